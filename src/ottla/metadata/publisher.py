"""The published image of the broker, and the listeners for its changes.

Owns      one Image, the same object for as long as the broker runs.
Promises  listeners are called in the order of subscription, once for each batch, after all of it
          was applied; a partly applied batch is never visible. The next batch is applied when all
          listeners are done. A batch that is already in the image is ignored. An image that is
          older than the published one, or of another cluster, is rejected.
Leaves    the decisions to a controller: one in this process swaps its image with the published one
          (`exchange`), batches of another one are read from the log (`follow`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial

from ottla.base.scheduling.gradual_event import GradualEvent
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.metadata.changes import Changes
from ottla.metadata.continuity import KnownState, load_known
from ottla.metadata.image import Batch, Image
from ottla.metadata.image_diff import changes_between
from ottla.metadata.log import MetadataLog, Trimmed

log = logging.getLogger(__name__)
REMINDER_S = 5.0

# Returns steps if the reaction grows with the size of the change.
ImageListener = Callable[[Image, Changes], Steps[None] | None]


class Publisher:
    def __init__(self, image: Image, scheduler: StepScheduler | None = None) -> None:
        self.image = image
        self._scheduler = scheduler
        self._listeners: list[ImageListener] = []
        self._moved = GradualEvent()  # of the next change
        self._lock = asyncio.Lock()  # held until all listeners are done with a change

    def subscribe(self, listener: ImageListener) -> None:
        self._listeners.append(listener)

    def publish(self, batch: Batch) -> None:
        """Apply the next batch; a batch that is already in the image is ignored."""
        if batch.end_offset > self.image.offset:
            self._notify_at_once(self.image.apply(batch))

    async def exchange(self, ahead: Image, changes: Changes) -> None:
        """Swap the image with one that is ahead by these changes.

        Nothing is done if `follow` has applied the same batch already. However much has changed,
        the event loop is not blocked for long. Return when all listeners have reacted.
        """
        async with self._lock:
            if ahead.offset > self.image.offset:
                KnownState.of(self.image).check(ahead, "that was appended to")
                self.image.exchange(ahead)
                await self._notify(changes)

    def replace(self, image: Image) -> None:
        """Replace the image with a later one, after batches were missed. Takes ownership of it.

        MetadataLost if it is older.
        """
        KnownState.of(self.image).check(image, "that was loaded again")
        changes = changes_between(self.image, image)
        self.image.become(image)
        self._notify_at_once(changes)

    async def wait_for(self, offset: int) -> None:
        """Wait until everything before `offset` is in the image. Reported if that takes long."""
        if self.image.offset >= offset:
            return
        reminder = asyncio.get_running_loop().call_later(REMINDER_S, self._report_waiting, offset)
        try:
            while self.image.offset < offset:
                await self._moved.wait()
        finally:
            reminder.cancel()

    def _report_waiting(self, offset: int) -> None:
        log.warning(
            "waiting for offset %d of the metadata log, of which this broker has everything "
            "before %d", offset - 1, self.image.offset,
        )  # fmt: skip

    async def follow(self, log: MetadataLog) -> None:
        """Apply batches appended by others, until cancelled."""
        while True:
            await log.wait_beyond(self.image.offset)
            await self.catch_up(log, log.read)

    async def catch_up(
        self, log: MetadataLog, read: Callable[[int], Awaitable[list[Batch]]]
    ) -> None:
        """Take over the batches that `read` returns from our offset on, or all of the log if they
        were trimmed."""
        try:
            batches = await read(self.image.offset)
        except Trimmed:
            image = await load_known(log, KnownState.of(self.image))
            async with self._lock:
                if image.offset > self.image.offset:
                    self.replace(image)
            return
        for batch in batches:
            async with self._lock:
                if batch.end_offset > self.image.offset:
                    await self._notify(await self._apply(batch))

    async def _apply(self, batch: Batch) -> Changes:
        """A long batch is applied in a thread, to a copy: the image has readers on the loop."""
        if self._scheduler is None or not self.image.is_long(batch.records):
            return self.image.apply(batch)
        ahead = await self._scheduler.in_thread(self.image.copy)
        changes = await self._scheduler.in_thread(partial(ahead.apply, batch))
        self.image.exchange(ahead)
        return changes

    async def _notify(self, changes: Changes) -> None:
        for listener in self._listeners:
            try:
                slices = listener(self.image, changes)
                if slices is not None:
                    await self._run(slices)
            except Exception:
                self._note_failure()
        self._note_moved()

    def _notify_at_once(self, changes: Changes) -> None:
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
        """The record is durable, so the other listeners are called nevertheless."""
        log.exception("a listener failed at metadata offset %d", self.image.offset)

    def _note_moved(self) -> None:
        self._moved.set()
        self._moved = GradualEvent()
