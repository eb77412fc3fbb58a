"""Where producer ids come from: what the coordinator needs of the broker around it."""

from __future__ import annotations

from typing import Protocol

from ottla.base.ids import ProducerId


class ProducerIdSource(Protocol):
    async def ready(self) -> None:
        """Until `take` has an id to give, if nothing else is awaited in between."""

    def take(self) -> ProducerId:
        """An id that nobody was ever given."""
