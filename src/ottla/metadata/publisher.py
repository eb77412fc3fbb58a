"""The image that the broker works with, and who is notified when it changes.

Owns      one Image, the same object for as long as the broker runs.
Promises  listeners are called in the order in which they subscribed, once for each batch, after all
          of it is in the image; nobody sees an image between two records of a batch. The next
          batch is taken over when all listeners are done with this one.
Leaves    where batches come from: the controller in this process hands them over (`publish`), those
          of another one are followed in the log (`follow`). One that comes both ways counts once.
          An image that is older than the published one, or of another cluster, is refused.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.metadata.changes import Changes
from ottla.metadata.continuity import Known, load_known
from ottla.metadata.image import Batch, Image
from ottla.metadata.image_diff import changes_between
from ottla.metadata.log import MetadataLog, Trimmed

log = logging.getLogger(__name__)

# Returns slices of work where a reaction grows with what has changed.
Listener = Callable[[Image, Changes], Steps[None] | None]


class Publisher:
    def __init__(self, image: Image, scheduler: StepScheduler | None = None) -> None:
        self.image = image
        self._scheduler = scheduler
        self._listeners: list[Listener] = []
        self._moved = asyncio.Event()

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def publish(self, batch: Batch) -> None:
        """Take over the next batch; one that is in the image already is passed over."""
        if batch.end_offset > self.image.offset:
            self._tell(self.image.apply(batch))

    async def exchange(self, ahead: Image, changes: Changes) -> None:
        """Take over an image that is ahead of ours by these changes, and leave ours in its place.

        However much has changed, the event loop is not kept for long. Return when all listeners
        have reacted.
        """
        Known.of(self.image).check(ahead, "that was appended to")
        self.image.exchange(ahead)
        for listener in self._listeners:
            try:
                slices = listener(self.image, changes)
                if slices is not None:
                    await self._run(slices)
            except Exception:
                self._note_failure()
        self._note_moved()

    def replace(self, image: Image) -> None:
        """Take over an image that went on while batches were missed. It is ours from here on.

        MetadataLost if it did not go on, but back.
        """
        Known.of(self.image).check(image, "that was loaded again")
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
                self.replace(await load_known(log, Known.of(self.image)))
                continue
            for batch in batches:
                self.publish(batch)

    def _tell(self, changes: Changes) -> None:
        for listener in self._listeners:
            try:
                slices = listener(self.image, changes)
                if slices is not None:
                    run_blocking(slices)
            except Exception:
                self._note_failure()
        self._note_moved()

    async def _run(self, slices: Steps[None]) -> None:
        if self._scheduler is None:
            run_blocking(slices)
        else:
            await self._scheduler.run(slices)

    def _note_failure(self) -> None:
        """The record is durable: the other listeners are called all the same."""
        log.exception("a listener failed at metadata offset %d", self.image.offset)

    def _note_moved(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
