"""A broker in this process whose group coordinator is there, and whose time passes when asked."""

from __future__ import annotations

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
        """Ask what is answered when a moment has passed."""
        self.loop.call_later(0.001, self.broker.groups.sweeper.expire_timers)
        return self.ask(request, version)
