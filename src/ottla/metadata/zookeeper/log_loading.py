"""Loads the whole metadata log: the snapshot, and the batches after it.

Promises  a log from which something was deleted is MetadataLost, and never taken for that of a new
          cluster; so is an older copy, however far other brokers have continued it. Nothing is
          created before the log is known to be complete.
"""

from __future__ import annotations

import asyncio

from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Image
from ottla.metadata.log import MetadataLost
from ottla.metadata.zookeeper.batch_reader import LogBatchReader
from ottla.metadata.zookeeper.layout import CONTROLLER_EPOCH, FOLDERS, LOG, SNAPSHOT, log_location
from ottla.metadata.zookeeper.log_comparison import SeenEnd, list_batches, missing_batch
from ottla.metadata.zookeeper.seen_log import SeenLog
from ottla.metadata.zookeeper.service import ZooKeeperService, create_missing, retried
from ottla.metadata.zookeeper.snapshots import SnapshotPointer, Snapshots

READ_AHEAD = 100  # znodes that are requested together


class LogLoader:
    def __init__(
        self, service: ZooKeeperService, snapshots: Snapshots, reader: LogBatchReader, seen: SeenLog
    ) -> None:
        self._service = service
        self._snapshots = snapshots
        self._reader = reader
        self._seen = seen

    async def load(self, known: KnownState) -> Image:
        await self._require_folder()
        # Asked before: another broker may append the first batch meanwhile.
        had_batches = await retried(self._service, self._service.had_children, LOG)
        image, seen = await self._load_all()
        if had_batches and image.offset == 0:
            raise self._lost(
                f"the znode {LOG} is empty and {SNAPSHOT} is missing, although there were "
                "batches: they were deleted"
            )
        known.check(image, log_location(self._service.address))
        if self._seen.end.offset:
            await self._seen.compare()
        for folder in FOLDERS:  # not before: a log that is refused is not changed
            await create_missing(self._service, folder)
        self._seen.note(seen)
        return image

    async def _require_folder(self) -> None:
        """MetadataLost if the folder of the batches was deleted: a broker creates it before the
        epoch of the controller and the snapshot."""
        await retried(self._service, self._service.sync)
        for path in (SNAPSHOT, CONTROLLER_EPOCH):
            if await self._exists(path) and not await self._exists(LOG):
                raise self._lost(
                    f"the znode {LOG} is missing, although {path} exists: it was deleted, "
                    "or this is the chroot of something else, such as Apache Kafka"
                )

    async def _exists(self, path: str) -> bool:
        return await retried(self._service, self._service.exists, path)

    async def _load_all(self) -> tuple[Image, SeenEnd]:
        while True:
            losses = self._seen.losses
            await retried(self._service, self._service.sync)
            pointer = await self._snapshots.pointer()
            image = Image() if pointer is None else await self._snapshots.load(pointer)
            if image is not None:
                seen = await self._apply_batches(image, pointer)
                if seen is not None and losses == self._seen.losses:  # all of it from one ZooKeeper
                    return image, seen

    async def _apply_batches(self, image: Image, pointer: SnapshotPointer | None) -> SeenEnd | None:
        """The end; None if batches were trimmed meanwhile, and a new snapshot must be loaded."""
        listed = await list_batches(self._service) or []
        offsets = [each for each in listed if each >= image.offset]
        seen = SeenEnd(image.offset)
        for at in range(0, len(offsets), READ_AHEAD):
            window = offsets[at : at + READ_AHEAD]
            batches = await asyncio.gather(*map(self._reader.read, window))
            for offset, found in zip(window, batches, strict=True):
                if found is None or offset != image.offset:
                    if await self._snapshots.pointer() != pointer:
                        return None
                    raise self._lost(missing_batch(image.offset))
                batch, seen = found
                image.apply(batch)
        while (found := await self._reader.read(image.offset)) is not None:
            batch, seen = found
            image.apply(batch)
        return None if await self._reader.is_trimmed(image.offset) else seen

    def _lost(self, what: str) -> MetadataLost:
        return MetadataLost(log_location(self._service.address), what)
