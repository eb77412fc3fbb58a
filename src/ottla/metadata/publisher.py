"""The image that the broker works with, and who is told when it changes.

Owns      one Image, the same object for as long as the broker runs.
Promises  listeners are called in the order in which they subscribed, once for each batch, after all
          of it is in the image; nobody sees an image between two records of a batch.
Leaves    where batches come from: the controller in this process hands them over (`publish`), those
          of another one are followed in the log (`follow`). One that comes both ways counts once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ottla.metadata.changes import Changes
from ottla.metadata.image import Batch, Image
from ottla.metadata.image_diff import changes_between
from ottla.metadata.log import MetadataLog, Trimmed

log = logging.getLogger(__name__)

Listener = Callable[[Image, Changes], None]


class Publisher:
    def __init__(self, image: Image) -> None:
        self.image = image
        self._listeners: list[Listener] = []
        self._moved = asyncio.Event()

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def publish(self, batch: Batch) -> None:
        """Take over the next batch; one that is in the image already is passed over."""
        if batch.end_offset > self.image.offset:
            self._tell(self.image.apply(batch))

    def replace(self, image: Image) -> None:
        """Take over an image that went on while batches were missed. It is ours from here on."""
        changes = changes_between(self.image, image)
        self.image.become(image)
        self._tell(changes)

    async def wait_for(self, offset: int) -> None:
        """Return once everything before `offset` is in the image."""
        while self.image.offset < offset:
            await self._moved.wait()

    async def follow(self, log: MetadataLog) -> None:
        """Take over what others append, until cancelled."""
        while True:
            await log.wait_beyond(self.image.offset)
            try:
                batches = await log.read(self.image.offset)
            except Trimmed:
                self.replace(await log.load())
                continue
            for batch in batches:
                self.publish(batch)

    def _tell(self, changes: Changes) -> None:
        for listener in self._listeners:
            try:
                listener(self.image, changes)
            except Exception:  # the record is durable: the others must hear of it all the same
                log.exception("a listener failed at metadata offset %d", self.image.offset)
        self._moved.set()
        self._moved = asyncio.Event()
