"""Elections without an event: of preferred leaders, and unclean ones where permitted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ottla.config.broker_options import BrokerConfig
from ottla.controller.controller import Controller
from ottla.controller.decision import Decision
from ottla.controller.elect_leaders import decide_balance_leaders, decide_unclean_elections
from ottla.controller.state import ControllerState

Decide = Callable[[ControllerState], Decision[bool]]


class PeriodicElections:
    def __init__(self, controller: Controller, config: BrokerConfig) -> None:
        self._controller = controller
        self._config = config

    async def run(self) -> None:
        """Run until cancelled, or until the controller resigns (BrokerError)."""
        config = self._config
        works: list[Awaitable[None]] = [
            self._repeat(
                decide_unclean_elections, config.unclean_leader_election_interval_ms / 1000
            )
        ]
        if config.auto_leader_rebalance_enable:
            interval_s = config.leader_imbalance_check_interval_seconds
            works.append(self._repeat(decide_balance_leaders, interval_s))
        await asyncio.gather(*works)

    async def _repeat(self, decide: Decide, interval_s: float) -> None:
        while True:
            await asyncio.sleep(interval_s)
            while await self._controller.decide(decide, is_large=True):
                pass  # more than one batch
