"""A broker in this process whose group coordinator is there, and whose time passes when asked."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.unit.handlers.world import World

from ottla.protocol.message import Message
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest


class GroupWorld(World):
    def __enter__(self) -> GroupWorld:
        super().__enter__()
        self.topic_id = self.create_topic("t", 2)
        self.ask(FindCoordinatorRequest("readers"), 3)
        self.run(self.broker.groups.loaded())
        return self

    def ask_soon(self, request: Message, version: int) -> Any:
        """Ask what is answered when something that is due has happened, whenever that begins."""

        async def let_happen() -> None:
            while True:
                self.broker.groups.expiration.expire_timers()
                await asyncio.sleep(0)

        happening = self.loop.create_task(let_happen())
        try:
            return self.ask(request, version)
        finally:
            happening.cancel()
