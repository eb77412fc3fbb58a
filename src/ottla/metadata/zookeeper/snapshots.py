"""Snapshots of the metadata in ZooKeeper, and the removal of the batches that they replace.

Promises  a snapshot is valid from the moment that `/metadata/snapshot` names it, which is after all
          of its parts are written. Only then batches and older snapshots are removed. Only the
          broker whose claim is current changes anything.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass

import cramjam

from ottla.base.scheduling.threads import RunJob
from ottla.metadata.frame import SNAPSHOT as SNAPSHOT_FRAME
from ottla.metadata.frame import BadFrame, NewerFrame, decode_frame
from ottla.metadata.image import Image
from ottla.metadata.log import CorruptMetadataError, NewerMetadata
from ottla.metadata.snapshot_encoding import encode_snapshot
from ottla.metadata.zookeeper.batch_znode import split
from ottla.metadata.zookeeper.json_data import decode_object, whole_number
from ottla.metadata.zookeeper.layout import (
    LOG,
    PARTS,
    SNAPSHOT,
    SNAPSHOTS,
    ZNODE_BYTES_MAX,
    batch_offset,
    part_offset,
    snapshot_folder,
    snapshot_part_path,
)
from ottla.metadata.zookeeper.service import (
    Check,
    Create,
    Delete,
    Operation,
    Write,
    ZnodeExists,
    ZnodeMissing,
    ZnodeRefused,
    ZooKeeperService,
    create_missing,
    retried,
)

log = logging.getLogger(__name__)
FORMAT = 1
DELETED_TOGETHER = 100  # znodes in one transaction
SHOWN = 200  # bytes of a znode that no broker has written


@dataclass(frozen=True, slots=True)
class SnapshotPointer:
    offset: int
    folder: str
    parts: int
    version: int = FORMAT

    def encode(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decode(cls, data: bytes) -> SnapshotPointer:
        try:
            fields = decode_object(data)
            if (version := whole_number(fields, "version")) > FORMAT:
                raise NewerMetadata(f"the znode {SNAPSHOT}", f"it has format {version}")
            offset, parts = whole_number(fields, "offset"), whole_number(fields, "parts")
            found = cls(offset, str(fields["folder"]), parts)
            if found.encode() != data or not found._is_consistent():
                raise ValueError("no broker has written that")
        except (ValueError, KeyError) as error:
            what = f"{data[:SHOWN]!r} names no snapshot: {error}"
            raise CorruptMetadataError(f"the znode {SNAPSHOT}", 0, what) from error
        return found

    def _is_consistent(self) -> bool:
        """The folder is named by the offset, and has parts."""
        return self.parts > 0 and self.folder.startswith(snapshot_folder(self.offset, ""))


class Snapshots:
    def __init__(
        self, service: ZooKeeperService, run_job: RunJob, new_nonce: Callable[[], str]
    ) -> None:
        self._service = service
        self._run_job = run_job
        self._new_nonce = new_nonce

    async def pointer(self) -> SnapshotPointer | None:
        znode = await retried(self._service, self._service.get, SNAPSHOT)
        return None if znode is None else SnapshotPointer.decode(znode.data)

    async def load(self, pointer: SnapshotPointer) -> Image | None:
        """None if the snapshot was replaced by a later one while it was read."""
        parts = []
        for number in range(pointer.parts):
            path = snapshot_part_path(pointer.folder, number)
            znode = await retried(self._service, self._service.get, path)
            if znode is None:
                if await self.pointer() != pointer:
                    return None
                raise CorruptMetadataError(f"the znode {path}", 0, "it is missing")
            parts.append(znode.data)
        return await self._run_job(lambda: _decode(pointer, b"".join(parts)))

    async def write(self, image: Image, guard: Check) -> None:
        """Write a snapshot, and remove what it replaces. VersionMismatch if another broker was
        elected; nothing was removed then that is still needed."""
        data = await self._run_job(lambda: bytes(cramjam.zstd.compress(encode_snapshot(image))))
        parts = split(data, ZNODE_BYTES_MAX)
        folder = snapshot_folder(image.offset, self._new_nonce())
        await create_missing(self._service, folder)
        for number, part in enumerate(parts):
            await self._create(guard, Create(snapshot_part_path(folder, number), part))
        await self._point_to(SnapshotPointer(image.offset, folder, len(parts)), guard)
        await self._remove_before(image.offset, folder, guard)

    async def _create(self, guard: Check, create: Create) -> None:
        with suppress(ZnodeExists):  # by a request whose response was lost
            await self._change([guard, create])

    async def _point_to(self, pointer: SnapshotPointer, guard: Check) -> None:
        try:
            await self._change([guard, Write(SNAPSHOT, pointer.encode())])
        except ZnodeMissing:
            await self._create(guard, Create(SNAPSHOT, pointer.encode()))

    async def _remove_before(self, offset: int, folder: str, guard: Check) -> None:
        await self._remove(LOG, lambda name: _is_before(batch_offset(name), offset), guard)
        await self._remove(PARTS, lambda name: _is_before(part_offset(name), offset), guard)
        kept = folder.rpartition("/")[2]
        for name in await self._children(SNAPSHOTS):
            if name != kept:
                await self._remove(f"{SNAPSHOTS}/{name}", lambda _name: True, guard)
                await self._delete([f"{SNAPSHOTS}/{name}"], guard)

    async def _remove(self, folder: str, is_old: Callable[[str], bool], guard: Check) -> None:
        # Lowest offsets first: a reader that finds a later batch finds all that are in between.
        names = sorted(filter(is_old, await self._children(folder)))
        paths = [f"{folder}/{name}" for name in names]
        for at in range(0, len(paths), DELETED_TOGETHER):
            await self._delete(paths[at : at + DELETED_TOGETHER], guard)

    async def _delete(self, paths: Sequence[str], guard: Check) -> None:
        try:
            await self._change([guard, *map(Delete, paths)])
        except (ZnodeMissing, ZnodeRefused):
            await self._delete_each(paths, guard)

    async def _delete_each(self, paths: Sequence[str], guard: Check) -> None:
        """One that cannot be deleted is left, and does not keep the others."""
        refused: list[ZnodeRefused] = []
        for path in paths:
            try:
                await self._change([guard, Delete(path)])
            except ZnodeMissing as error:
                if error.path != path:
                    raise
                # It was deleted by a request whose response was lost.
            except ZnodeRefused as error:
                refused.append(error)
        if refused:
            log.warning(
                "%d znodes that a snapshot of the metadata log stands for are left: %s",
                len(refused), refused[0],
            )  # fmt: skip

    async def _children(self, path: str) -> list[str]:
        return await retried(self._service, self._service.children, path) or []

    def _change(self, operations: Sequence[Operation]) -> Awaitable[None]:
        return retried(self._service, self._service.multi, operations)


def _is_before(found: int | None, offset: int) -> bool:
    return found is not None and found < offset


def _decode(pointer: SnapshotPointer, data: bytes) -> Image:
    try:
        frame = bytes(cramjam.zstd.decompress(data))
        batch, _ = decode_frame(SNAPSHOT_FRAME, memoryview(frame))
    except NewerFrame as error:
        raise NewerMetadata(f"the znodes in {pointer.folder}", str(error)) from error
    except (cramjam.DecompressionError, BadFrame) as error:
        raise CorruptMetadataError(f"the znodes in {pointer.folder}", 0, str(error)) from error
    if batch.base_offset != pointer.offset:
        raise CorruptMetadataError(
            f"the znodes in {pointer.folder}", 0,
            f"they have offset {batch.base_offset}, but {SNAPSHOT} has {pointer.offset}",
        )  # fmt: skip
    image = Image()
    image.load(batch.records, batch.base_offset, batch.controller_epoch)
    return image
