"""The source of producer ids, as the coordinator uses it."""

from __future__ import annotations

from typing import Protocol

from ottla.base.ids import ProducerId


class ProducerIdSource(Protocol):
    async def ready(self) -> None:
        """Wait until `take` has an id, provided that nothing else is awaited in between."""

    def take(self) -> ProducerId:
        """An id that was never assigned before."""
