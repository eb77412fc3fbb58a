"""Reads the metadata log from an offset on, and waits for the next batch.

At rest a follower has one watch, on the znode that the next batch will be. It sends no request but,
once in GAP_SOUGHT_EVERY_S, those that show whether that znode was deleted.
"""

from __future__ import annotations

import asyncio

from ottla.metadata.image import Batch
from ottla.metadata.log import Trimmed
from ottla.metadata.zookeeper.batch_reader import LogBatchReader
from ottla.metadata.zookeeper.layout import batch_path
from ottla.metadata.zookeeper.log_comparison import SeenEnd
from ottla.metadata.zookeeper.seen_log import SeenLog
from ottla.metadata.zookeeper.service import ZooKeeperService, retried

GAP_SOUGHT_EVERY_S = 300.0  # by a follower for which nothing happens


class LogFollower:
    def __init__(self, service: ZooKeeperService, reader: LogBatchReader, seen: SeenLog) -> None:
        self._service = service
        self._reader = reader
        self._seen = seen
        self._found = -1  # the offset of the batch that was awaited last, and is there

    async def read(self, offset: int) -> list[Batch]:
        """The batches from `offset` to the end of the log; Trimmed if they were removed."""
        while True:
            await self._seen.compare_if_lost()
            batches, seen = await self._read_to_end(offset)
            if self._seen.is_compared:
                self._seen.note(seen)
                if not batches and offset == self._found:  # it was deleted since
                    await self._seen.find_gap()
                return batches

    async def _read_to_end(self, offset: int) -> tuple[list[Batch], SeenEnd]:
        batches: list[Batch] = []
        seen = SeenEnd()
        while (found := await self._reader.read(offset)) is not None:
            batch, seen = found
            batches.append(batch)
            offset = batch.end_offset
        if not batches and await self._reader.is_trimmed(offset):
            raise Trimmed(f"offset {offset} is only in the snapshot")
        return batches, seen

    async def wait_beyond(self, offset: int) -> None:
        """Wait until there is a batch at the offset, or until it was trimmed."""
        path = batch_path(offset)
        has_changed = False
        while True:
            await self._seen.compare_if_lost()
            changed = asyncio.Event()
            if await retried(self._service, self._service.exists, path, changed.set):
                self._found = offset
                return
            # A batch that is not there is the next one, or one that was trimmed. Trimming comes
            # after the snapshot, so that this read sees the snapshot if the first saw the trimming.
            if await self._reader.is_trimmed(offset):
                return
            if has_changed:  # it was created, and deleted since
                await self._seen.find_gap()
            if not self._seen.is_compared:
                continue  # the watch may be on another ZooKeeper
            await self._wait_for_change(changed)
            has_changed = True

    async def _wait_for_change(self, changed: asyncio.Event) -> None:
        while not changed.is_set():
            try:
                async with asyncio.timeout(GAP_SOUGHT_EVERY_S):
                    await changed.wait()
            except TimeoutError:
                await self._seen.find_gap()
