"""The metadata log of a cluster, in ZooKeeper.

Promises  what `MetadataLog` asks for, and: only the broker with the current claim appends. While
          there is no connection to ZooKeeper, every call waits; a log that cannot be read is never
          treated as an empty one. After every lost connection, and before a claim is used, what is
          there is compared with what this broker has seen: MetadataLost if it lacks something.
Leaves    elections to `election.py`, loading to `log_loading.py`, following to `log_following.py`,
          the znodes of a batch to `batch_writer.py` and `batch_reader.py`, snapshots to
          `snapshots.py`, comparing to `seen_log.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ottla.base.scheduling.threads import RunJob
from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import AppendFailed, AppendRefused
from ottla.metadata.zookeeper.batch_reader import LogBatchReader
from ottla.metadata.zookeeper.batch_writer import LogBatchWriter, append_refused
from ottla.metadata.zookeeper.claim import Claim
from ottla.metadata.zookeeper.layout import CONTROLLER_EPOCH, log_location
from ottla.metadata.zookeeper.log_comparison import SeenEnd
from ottla.metadata.zookeeper.log_following import LogFollower
from ottla.metadata.zookeeper.log_loading import LogLoader
from ottla.metadata.zookeeper.seen_log import SeenLog
from ottla.metadata.zookeeper.service import (
    Check,
    VersionMismatch,
    ZnodeError,
    ZnodeMissing,
    ZnodeRefused,
    ZooKeeperService,
    retried,
)
from ottla.metadata.zookeeper.snapshot_need import (
    SNAPSHOT_BATCHES,
    SNAPSHOT_RECORDS,
    SnapshotNeed,
)
from ottla.metadata.zookeeper.snapshots import Snapshots


class ZooKeeperMetadataLog:
    def __init__(
        self,
        service: ZooKeeperService,
        run_job: RunJob,
        new_nonce: Callable[[], str],
        *,
        snapshot_batches: int = SNAPSHOT_BATCHES,
        snapshot_records: int = SNAPSHOT_RECORDS,
    ) -> None:
        self._service = service
        self._run_job = run_job
        self._snapshots = Snapshots(service, run_job, new_nonce)
        self._seen = SeenLog(service, self._snapshots)
        reader = LogBatchReader(service, self._snapshots, run_job)
        self._loader = LogLoader(service, self._snapshots, reader, self._seen)
        self._follower = LogFollower(service, reader, self._seen)
        self._writer = LogBatchWriter(service, run_job, new_nonce, self._seen)
        self._snapshot_need = SnapshotNeed(snapshot_batches, snapshot_records)
        self._claim: Claim | None = None
        self._is_certain = False  # whether everything up to the end of the log was read
        self._end_offset = 0
        self._lock = asyncio.Lock()

    @property
    def location(self) -> str:
        return log_location(self._service.address)

    @property
    def end_offset(self) -> int:
        return self._end_offset

    @property
    def seen_end(self) -> SeenEnd:
        """The last batch that was read or appended."""
        return self._seen.end

    def remember(self, end: SeenEnd) -> None:
        """Set what an earlier process of this broker has seen. Call this before `load`."""
        self._seen.note(end)

    async def begin(self, claim: Claim, offset: int) -> list[Batch]:
        """Append under this claim from here on. Returns the batches from `offset` to the end of the
        log, after which no other broker can append; Trimmed if they were removed."""
        async with self._lock:
            batches = await self.read(offset)
            await self._seen.compare()  # the end may be a batch that was deleted
            await self._snapshot_need.measure(self._service, self._snapshots)
            self._claim = claim
            self._end_offset = batches[-1].end_offset if batches else offset
            self._is_certain = True
            return batches

    @property
    def is_claimed(self) -> bool:
        """Whether `begin` has succeeded, and `end_claim` was not called since."""
        return self._claim is not None

    def end_claim(self) -> None:
        """Append no more."""
        self._claim = None

    async def load(self, known: KnownState) -> Image:
        async with self._lock:
            image = await self._loader.load(known)
            self._end_offset = image.offset
            return image

    async def check(self) -> None:
        """Nothing to do: what is in ZooKeeper is compared after every lost connection."""

    async def append(self, batch: Batch) -> None:
        async with self._lock:
            if not self._is_certain:
                raise AppendFailed("the log was not loaded, or failed since")
            claim = self._required_claim()
            await self._seen.compare_if_lost()
            if batch.base_offset != self._end_offset or not batch.records:
                count, at = len(batch.records), batch.base_offset
                raise AppendRefused(f"{count} records at {at}, but {self._end_offset} comes next")
            self._is_certain = False  # until there is a response
            try:
                written = await self._writer.write(batch, claim)
            except AppendRefused:
                self._is_certain = True  # nothing was written, and the end is not moved by us
                raise
            self._is_certain = True
            self._end_offset = batch.end_offset
            self._snapshot_need.note_batch(written)

    async def confirm(self) -> None:
        async with self._lock:
            guard = Check(CONTROLLER_EPOCH, self._required_claim().epoch_version)
            await self._seen.compare_if_lost()
            try:
                await retried(self._service, self._service.multi, [guard])
            except ZnodeError as error:
                raise append_refused(error) from error
            await self._seen.compare_if_lost()

    def _required_claim(self) -> Claim:
        if self._claim is None:
            raise AppendRefused("this broker is not the controller")
        return self._claim

    async def read(self, offset: int) -> list[Batch]:
        return await self._follower.read(offset)

    async def wait_beyond(self, offset: int) -> None:
        await self._follower.wait_beyond(offset)

    @property
    def wants_snapshot(self) -> bool:
        return self._snapshot_need.is_met(self._end_offset)

    async def write_snapshot(self, image: Image) -> None:
        async with self._lock:
            claim = self._claim
            if claim is None or not self._is_certain:
                raise AppendFailed("this broker is not the controller")
            await self._seen.compare_if_lost()
            if image.offset != self._end_offset:
                raise ValueError(
                    f"an image at {image.offset}, but the log ends at {self._end_offset}"
                )
            self._snapshot_need.note_snapshot(image.offset)
            # The original changes while the copy is written.
            image = await self._run_job(image.copy)
        guard = Check(CONTROLLER_EPOCH, claim.epoch_version)
        try:
            await self._snapshots.write(image, guard)
        except (ZnodeMissing, VersionMismatch) as error:
            raise AppendFailed("another broker was elected while a snapshot was written") from error
        except ZnodeRefused as error:
            raise PermissionError(str(error)) from error

    async def close(self) -> None:
        """Nothing to do: the service is closed by its owner."""
