"""The metadata log of a cluster, in ZooKeeper.

Promises  what `MetadataLog` asks for, and: only the broker with the current claim appends. Each
          batch is created in one transaction that also compares the version of the znode
          `/controller_epoch`, which every election changes. A batch is named by its offset and
          carries a nonce, so that an append that is repeated after a lost connection happens once.
          While there is no connection to ZooKeeper, every call waits; a log that cannot be read
          is never treated as an empty one. After every lost connection, and before a claim is
          used, what is there is compared with what this broker has seen: MetadataLost if it lacks
          something.
Leaves    elections to `election.py`, snapshots to `snapshots.py`, bytes to `batch_znode.py`, the
          comparison to `log_comparison.py`.

At rest a follower has one watch, on the znode that the next batch will be. It sends no request but,
once in GAP_SOUGHT_EVERY_S, those that show whether that znode was deleted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ottla.base.scheduling.threads import RunJob
from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import (
    AppendFailed,
    AppendRefused,
    CorruptMetadataError,
    MetadataLost,
    NewerMetadata,
    Trimmed,
)
from ottla.metadata.zookeeper.batch_znode import (
    BadZnode,
    BatchZnodeHeader,
    EncodedBatch,
    NewerZnode,
    decode_batch,
    decode_header,
    encode_batch,
)
from ottla.metadata.zookeeper.layout import (
    CONTROLLER_EPOCH,
    FOLDERS,
    LOG,
    PARTS,
    SNAPSHOT,
    batch_path,
    part_path,
)
from ottla.metadata.zookeeper.log_comparison import (
    SeenEnd,
    compare,
    find_fault,
    find_gap,
    list_batches,
    missing_batch,
)
from ottla.metadata.zookeeper.service import (
    Check,
    Create,
    Operation,
    OutcomeUnknown,
    SessionState,
    VersionMismatch,
    Znode,
    ZnodeExists,
    ZnodeMissing,
    ZooKeeperService,
    create_missing,
    retried,
)
from ottla.metadata.zookeeper.snapshots import SnapshotPointer, Snapshots

log = logging.getLogger(__name__)
SNAPSHOT_BATCHES = 1000
SNAPSHOT_RECORDS = 20_000  # a restart applies them in a fraction of a second
SNAPSHOT_BYTES = 8 * 1024 * 1024
READ_AHEAD = 100  # znodes that are requested together while the log is loaded
GAP_SOUGHT_EVERY_S = 300.0  # by a follower for which nothing happens


@dataclass(frozen=True, slots=True)
class Claim:
    """That a broker was elected. It ends with the next election, wherever that happens."""

    broker_id: int
    controller_epoch: int
    epoch_version: int  # of the znode /controller_epoch


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
        self._new_nonce = new_nonce
        self._snapshots = Snapshots(service, run_job, new_nonce)
        self._snapshot_batches = snapshot_batches
        self._snapshot_records = snapshot_records
        self._claim: Claim | None = None
        self._is_certain = False  # whether everything up to the end of the log was read
        self._end_offset = 0
        self._snapshot_offset = 0
        self._batches_since_snapshot = 0
        self._bytes_since_snapshot = 0
        self._lock = asyncio.Lock()
        self._seen = SeenEnd()  # of everything that was loaded, read or appended
        self._losses = 0  # of connections: another ZooKeeper may answer since
        self._compared = 0  # how many losses there were at the last comparison
        self._found = -1  # the offset of the batch that was awaited last, and is there
        service.subscribe(self._note_session)

    def _note_session(self, state: SessionState) -> None:
        if state is not SessionState.CONNECTED:
            self._losses += 1

    @property
    def place(self) -> str:
        return f"zookeeper://{self._service.address}{LOG}"

    @property
    def end_offset(self) -> int:
        return self._end_offset

    async def begin(self, claim: Claim, offset: int) -> list[Batch]:
        """Append under this claim from here on. Returns the batches from `offset` to the end of the
        log, after which no other broker can append; Trimmed if they were removed."""
        async with self._lock:
            batches = await self.read(offset)
            await self._compare()  # the end may be a batch that was deleted
            await self._measure()
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
            await self._require_folder()
            # Asked before: another broker may append the first batch meanwhile.
            had_batches = await retried(self._service, self._service.had_children, LOG)
            image, seen = await self._load_all()
            if had_batches and image.offset == 0:
                raise MetadataLost(
                    self.place,
                    f"the znode {LOG} is empty and {SNAPSHOT} is missing, although there were "
                    "batches: they were deleted",
                )
            known.check(image, self.place)
            for folder in FOLDERS:  # not before: a log that is refused is not changed
                await create_missing(self._service, folder)
            self._end_offset = image.offset
            self._note_seen(seen)
            return image

    async def check(self) -> None:
        """Nothing to do: what is in ZooKeeper is compared after every lost connection."""

    async def append(self, batch: Batch) -> None:
        async with self._lock:
            if not self._is_certain:
                raise AppendFailed("the log was not loaded, or failed since")
            claim = self._claim
            if claim is None:
                raise AppendRefused("this broker is not the controller")
            await self._compare_if_lost()
            if batch.base_offset != self._end_offset or not batch.records:
                count, at = len(batch.records), batch.base_offset
                raise AppendRefused(f"{count} records at {at}, but {self._end_offset} comes next")
            self._is_certain = False  # until there is a response
            await self._create(batch, claim)
            self._is_certain = True
            self._end_offset = batch.end_offset

    async def confirm(self) -> None:
        async with self._lock:
            if (claim := self._claim) is None:
                raise AppendRefused("this broker is not the controller")
            await self._compare_if_lost()
            guard = Check(CONTROLLER_EPOCH, claim.epoch_version)
            try:
                await retried(self._service, self._service.multi, [guard])
            except (ZnodeMissing, VersionMismatch) as error:
                raise AppendRefused(
                    f"the znode {error.path} has changed, as when another broker is elected"
                ) from error
            await self._compare_if_lost()

    async def read(self, offset: int) -> list[Batch]:
        while True:
            await self._compare_if_lost()
            batches, seen = await self._read_to_end(offset)
            if self._compared == self._losses:
                self._note_seen(seen)
                if not batches and offset == self._found:  # it was deleted since
                    await self._find_gap()
                return batches

    async def _read_to_end(self, offset: int) -> tuple[list[Batch], SeenEnd]:
        batches: list[Batch] = []
        seen = SeenEnd()
        while (found := await self._read_batch(offset)) is not None:
            batch, seen = found
            batches.append(batch)
            offset = batch.end_offset
        if not batches and await self._is_trimmed(offset):
            raise Trimmed(f"offset {offset} is only in the snapshot")
        return batches, seen

    async def wait_beyond(self, offset: int) -> None:
        path = batch_path(offset)
        has_changed = False
        while True:
            await self._compare_if_lost()
            changed = asyncio.Event()
            if await retried(self._service, self._service.exists, path, changed.set):
                self._found = offset
                return
            # A batch that is not there is the next one, or one that was trimmed. Trimming comes
            # after the snapshot, so that this read sees the snapshot if the first saw the trimming.
            if await self._is_trimmed(offset):
                return
            if has_changed:  # it was created, and deleted since
                await self._find_gap()
            if self._compared != self._losses:
                continue  # the watch may be on another ZooKeeper
            await self._wait_for_change(changed)
            has_changed = True

    async def _wait_for_change(self, changed: asyncio.Event) -> None:
        while not changed.is_set():
            try:
                async with asyncio.timeout(GAP_SOUGHT_EVERY_S):
                    await changed.wait()
            except TimeoutError:
                await self._find_gap()

    @property
    def wants_snapshot(self) -> bool:
        return (
            self._batches_since_snapshot >= self._snapshot_batches
            or self._end_offset - self._snapshot_offset >= self._snapshot_records
            or self._bytes_since_snapshot >= SNAPSHOT_BYTES
        )

    async def write_snapshot(self, image: Image) -> None:
        async with self._lock:
            claim = self._claim
            if claim is None or not self._is_certain:
                raise AppendFailed("this broker is not the controller")
            await self._compare_if_lost()
            if image.offset != self._end_offset:
                raise ValueError(
                    f"an image at {image.offset}, but the log ends at {self._end_offset}"
                )
            self._batches_since_snapshot = self._bytes_since_snapshot = 0
            self._snapshot_offset = image.offset
            # The original moves on while this one is written.
            image = await self._run_job(image.copy)
        guard = Check(CONTROLLER_EPOCH, claim.epoch_version)
        try:
            await self._snapshots.write(image, guard)
        except (ZnodeMissing, VersionMismatch) as error:
            raise AppendFailed("another broker was elected while a snapshot was written") from error

    async def close(self) -> None:
        """Nothing to do: the service is closed by its owner."""

    # Appending.

    async def _create(self, batch: Batch, claim: Claim) -> None:
        nonce = self._new_nonce()
        encoded = await self._run_job(lambda: encode_batch(batch, claim.broker_id, nonce))
        await self._create_parts(batch.base_offset, nonce, encoded)
        path = batch_path(batch.base_offset)
        operations: list[Operation] = [
            Check(CONTROLLER_EPOCH, claim.epoch_version),
            Create(path, encoded.data),
        ]
        is_repeated = False
        while True:
            try:
                await self._service.multi(operations)
                break
            except OutcomeUnknown:
                is_repeated = True
                await self._service.connected()
                await self._compare_if_lost()
            except (ZnodeExists, ZnodeMissing, VersionMismatch) as error:
                if is_repeated and await self._has_nonce(path, nonce):
                    break  # the request whose response was lost had succeeded
                self._is_certain = True  # nothing was written, and the end is not moved by us
                raise AppendRefused(
                    f"the znode {error.path} has changed, as when another broker is elected"
                ) from error
        # The response may be of another ZooKeeper, after a loss that is reported only now.
        await self._compare_if_lost()
        self._note_seen(SeenEnd(batch.end_offset, batch.base_offset, nonce))
        self._batches_since_snapshot += 1
        self._bytes_since_snapshot += len(encoded.data) + sum(map(len, encoded.parts))

    async def _create_parts(self, offset: int, nonce: str, encoded: EncodedBatch) -> None:
        """Parts of a batch that is never created are removed when the log is trimmed."""
        for number, part in enumerate(encoded.parts):
            create = Create(part_path(offset, number, nonce), part)
            try:
                await self._create_part(create)
            except ZnodeMissing:
                log.warning("the znode %s was deleted, and is created again", PARTS)
                await create_missing(self._service, PARTS)
                await self._create_part(create)

    async def _create_part(self, create: Create) -> None:
        with suppress(ZnodeExists):  # created by the request whose response was lost
            await retried(self._service, self._service.multi, [create])

    async def _has_nonce(self, path: str, nonce: str) -> bool:
        znode = await self._get(path)
        if znode is None:
            return False
        try:
            return decode_header(znode.data)[0].nonce == nonce
        except BadZnode:
            return False

    # Reading.

    async def _require_folder(self) -> None:
        """MetadataLost if the folder of the batches was deleted: a broker creates it before the
        epoch of the controller and the snapshot."""
        await retried(self._service, self._service.sync)
        for path in (SNAPSHOT, CONTROLLER_EPOCH):
            if await retried(self._service, self._service.exists, path) and not await retried(
                self._service, self._service.exists, LOG
            ):
                raise MetadataLost(
                    self.place,
                    f"the znode {LOG} is missing, although {path} exists: it was deleted, "
                    "or this is the chroot of something else, such as Apache Kafka",
                )

    async def _load_all(self) -> tuple[Image, SeenEnd]:
        while True:
            losses = self._losses
            await retried(self._service, self._service.sync)
            pointer = await self._snapshots.pointer()
            image = Image() if pointer is None else await self._snapshots.load(pointer)
            if image is not None:
                seen = await self._apply_log(image, pointer)
                if seen is not None and losses == self._losses:  # all of it from one ZooKeeper
                    return image, seen

    async def _apply_log(self, image: Image, pointer: SnapshotPointer | None) -> SeenEnd | None:
        """The end; None if batches were trimmed meanwhile, and a new snapshot must be loaded."""
        offsets = [each for each in await self._list_batches() if each >= image.offset]
        seen = SeenEnd(image.offset)
        for at in range(0, len(offsets), READ_AHEAD):
            window = offsets[at : at + READ_AHEAD]
            batches = await asyncio.gather(*map(self._read_batch, window))
            for offset, found in zip(window, batches, strict=True):
                if found is None or offset != image.offset:
                    if await self._snapshots.pointer() != pointer:
                        return None
                    raise MetadataLost(self.place, missing_batch(image.offset))
                batch, seen = found
                image.apply(batch)
        while (found := await self._read_batch(image.offset)) is not None:
            batch, seen = found
            image.apply(batch)
        return None if await self._is_trimmed(image.offset) else seen

    async def _list_batches(self) -> list[int]:
        return await list_batches(self._service) or []

    async def _measure(self) -> None:
        """How much others have appended since the last snapshot."""
        pointer = await self._snapshots.pointer()
        self._snapshot_offset = 0 if pointer is None else pointer.offset
        offsets = await self._list_batches()
        self._batches_since_snapshot = sum(each >= self._snapshot_offset for each in offsets)
        self._bytes_since_snapshot = 0

    async def _read_batch(self, offset: int) -> tuple[Batch, SeenEnd] | None:
        path = batch_path(offset)
        znode = await self._get(path)
        if znode is None:
            return None
        try:
            header, body = decode_header(znode.data)
            if header.base_offset != offset:
                raise BadZnode(f"its batch has the offset {header.base_offset}")
            if header.parts:
                body = await self._read_parts(header)
            batch = await self._run_job(lambda: decode_batch(header, body))
        except NewerZnode as error:
            raise NewerMetadata(f"the znode {path}", str(error)) from error
        except BadZnode as error:
            if await self._is_trimmed(offset):
                return None  # its parts were removed while it was read
            raise CorruptMetadataError(f"the znode {path}", 0, str(error)) from error
        return batch, SeenEnd.of(header)

    async def _read_parts(self, header: BatchZnodeHeader) -> bytes:
        parts = []
        for number in range(header.parts):
            path = part_path(header.base_offset, number, header.nonce)
            znode = await self._get(path)
            if znode is None:
                raise BadZnode(f"the znode {path} with a part of it is missing")
            parts.append(znode.data)
        return b"".join(parts)

    async def _is_trimmed(self, offset: int) -> bool:
        pointer = await self._snapshots.pointer()
        return pointer is not None and pointer.offset > offset

    async def _get(self, path: str) -> Znode | None:
        return await retried(self._service, self._service.get, path)

    # Comparing with what was seen.

    def _note_seen(self, seen: SeenEnd) -> None:
        if seen.offset > self._seen.offset:
            self._seen = seen

    async def _compare_if_lost(self) -> None:
        """If a connection is lost meanwhile, the next call compares again: else nothing would be
        appended while connections are lost all the time."""
        if self._compared != self._losses:
            await self._compare()

    async def _compare(self) -> None:
        losses = self._losses
        await compare(self._service, self._snapshots, self._seen, self.place, find_fault)
        self._compared = losses

    async def _find_gap(self) -> None:
        await compare(self._service, self._snapshots, self._seen, self.place, find_gap)
