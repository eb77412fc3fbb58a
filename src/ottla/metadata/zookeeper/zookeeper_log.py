"""The metadata log of a cluster, in ZooKeeper.

Promises  what `MetadataLog` asks for, and: only the broker with the current claim appends. Each
          batch is created in one transaction that also compares the version of the znode
          `/controller_epoch`, which every election changes. A batch is named by its offset and
          carries a nonce, so that an append that is repeated after a lost connection happens once.
          While there is no connection to ZooKeeper, every call waits; a log that cannot be read
          is never treated as an empty one.
Leaves    elections to `election.py`, snapshots to `snapshots.py`, bytes to `batch_znode.py`.

At rest a follower has one watch, on the znode that the next batch will be, and sends no request.
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
    Trimmed,
)
from ottla.metadata.zookeeper.batch_znode import (
    BadZnode,
    BatchZnodeHeader,
    EncodedBatch,
    decode_batch,
    decode_header,
    encode_batch,
)
from ottla.metadata.zookeeper.layout import (
    CONTROLLER_EPOCH,
    FOLDERS,
    LOG,
    PARTS,
    batch_offset,
    batch_path,
    part_path,
)
from ottla.metadata.zookeeper.service import (
    Check,
    Create,
    Operation,
    OutcomeUnknown,
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
            for folder in FOLDERS:
                await create_missing(self._service, folder)
            image = await self._load_all()
            known.check(image, self.place)
            self._end_offset = image.offset
            return image

    async def check(self) -> None:
        """Nothing to do: what is in ZooKeeper is compared whenever it is loaded."""

    async def append(self, batch: Batch) -> None:
        async with self._lock:
            if not self._is_certain:
                raise AppendFailed("the log was not loaded, or failed since")
            claim = self._claim
            if claim is None:
                raise AppendRefused("this broker is not the controller")
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
            guard = Check(CONTROLLER_EPOCH, claim.epoch_version)
            try:
                await retried(self._service, self._service.multi, [guard])
            except (ZnodeMissing, VersionMismatch) as error:
                raise AppendRefused(
                    f"the znode {error.path} has changed, as when another broker is elected"
                ) from error

    async def read(self, offset: int) -> list[Batch]:
        batches: list[Batch] = []
        while (batch := await self._read_batch(offset)) is not None:
            batches.append(batch)
            offset = batch.end_offset
        if not batches and await self._is_trimmed(offset):
            raise Trimmed(f"offset {offset} is only in the snapshot")
        return batches

    async def wait_beyond(self, offset: int) -> None:
        path = batch_path(offset)
        while True:
            changed = asyncio.Event()
            if await retried(self._service, self._service.exists, path, changed.set):
                return
            # A batch that is not there is the next one, or one that was trimmed. Trimming comes
            # after the snapshot, so that this read sees the snapshot if the first saw the trimming.
            if await self._is_trimmed(offset):
                return
            await changed.wait()

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
            except (ZnodeExists, ZnodeMissing, VersionMismatch) as error:
                if is_repeated and await self._has_nonce(path, nonce):
                    break  # the request whose response was lost had succeeded
                self._is_certain = True  # nothing was written, and the end is not moved by us
                raise AppendRefused(
                    f"the znode {error.path} has changed, as when another broker is elected"
                ) from error
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

    async def _load_all(self) -> Image:
        while True:
            await retried(self._service, self._service.sync)
            pointer = await self._snapshots.pointer()
            image = Image() if pointer is None else await self._snapshots.load(pointer)
            if image is not None and await self._apply_log(image, pointer):
                return image

    async def _apply_log(self, image: Image, pointer: SnapshotPointer | None) -> bool:
        """False if batches were trimmed meanwhile, and a new snapshot must be loaded."""
        offsets = [each for each in await self._list_batches() if each >= image.offset]
        for at in range(0, len(offsets), READ_AHEAD):
            window = offsets[at : at + READ_AHEAD]
            batches = await asyncio.gather(*map(self._read_batch, window))
            for offset, batch in zip(window, batches, strict=True):
                if batch is None or offset != image.offset:
                    if await self._snapshots.pointer() != pointer:
                        return False
                    raise MetadataLost(
                        self.place,
                        f"the znode {batch_path(image.offset)} is missing, although later ones "
                        "exist",
                    )
                image.apply(batch)
        while (batch := await self._read_batch(image.offset)) is not None:
            image.apply(batch)
        return not await self._is_trimmed(image.offset)

    async def _list_batches(self) -> list[int]:
        names = await retried(self._service, self._service.children, LOG) or []
        return sorted(offset for each in names if (offset := batch_offset(each)) is not None)

    async def _measure(self) -> None:
        """How much others have appended since the last snapshot."""
        pointer = await self._snapshots.pointer()
        self._snapshot_offset = 0 if pointer is None else pointer.offset
        offsets = await self._list_batches()
        self._batches_since_snapshot = sum(each >= self._snapshot_offset for each in offsets)
        self._bytes_since_snapshot = 0

    async def _read_batch(self, offset: int) -> Batch | None:
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
            return await self._run_job(lambda: decode_batch(header, body))
        except BadZnode as error:
            if await self._is_trimmed(offset):
                return None  # its parts were removed while it was read
            raise CorruptMetadataError(f"the znode {path}", 0, str(error)) from error

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
