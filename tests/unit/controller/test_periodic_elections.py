from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from ottla.config.broker_options import BrokerConfig
from ottla.controller.controller import Controller
from ottla.controller.elect_leaders import decide_balance_leaders, decide_unclean_elections
from ottla.controller.periodic_elections import PeriodicElections
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

FAST = replace(
    BrokerConfig(), unclean_leader_election_interval_ms=1, leader_imbalance_check_interval_seconds=0
)


class CountedController:
    """Resigns when each kind was decided so many times; the first few times there is more to do."""

    def __init__(self, times: int, kinds: int = 1, more: int = 0) -> None:
        self.decided: list[Callable[..., Any]] = []
        self._times = times
        self._kinds = kinds
        self._more = more

    def has_resigned(self) -> bool:
        counts = Counter(self.decided)
        return len(counts) == self._kinds and min(counts.values()) >= self._times

    async def decide(self, decide: Callable[..., Any], *, is_large: bool = False) -> bool:
        assert is_large, "it looks at all partitions"
        if self.has_resigned():
            raise BrokerError(ErrorCode.NOT_CONTROLLER)
        self.decided.append(decide)
        await asyncio.sleep(0)
        self._more -= 1
        return self._more >= 0


def run(controller: CountedController, config: BrokerConfig) -> None:
    elections = PeriodicElections(cast(Controller, controller), config)
    with pytest.raises(BrokerError, match="NOT_CONTROLLER"):
        asyncio.run(asyncio.wait_for(elections.run(), 30))


def test_both_kinds_are_repeated_until_the_controller_resigns() -> None:
    controller = CountedController(3, kinds=2)
    run(controller, FAST)
    assert set(controller.decided) == {decide_balance_leaders, decide_unclean_elections}


def test_leaders_are_not_moved_back_if_that_is_disabled() -> None:
    controller = CountedController(5)
    run(controller, replace(FAST, auto_leader_rebalance_enable=False))
    assert set(controller.decided) == {decide_unclean_elections}


def test_more_than_one_batch_is_decided_without_a_pause() -> None:
    controller = CountedController(4, more=3)
    slow = replace(FAST, unclean_leader_election_interval_ms=1, auto_leader_rebalance_enable=False)
    run(controller, slow)
    assert controller.decided == [decide_unclean_elections] * 4
