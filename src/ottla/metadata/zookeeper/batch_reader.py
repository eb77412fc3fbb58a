"""Reads one batch of the metadata log from its znode, and from those of its parts.

Promises  a batch is returned as it was written, or not at all: CorruptMetadataError or
          NewerMetadata names the znode. One that is trimmed while it is read does not exist.
"""

from __future__ import annotations

from ottla.base.scheduling.threads import RunJob
from ottla.metadata.image import Batch
from ottla.metadata.log import CorruptMetadataError, NewerMetadata
from ottla.metadata.zookeeper.batch_znode import (
    BadZnode,
    BatchZnodeHeader,
    NewerZnode,
    decode_batch,
    decode_header,
)
from ottla.metadata.zookeeper.layout import batch_path, part_path
from ottla.metadata.zookeeper.log_comparison import SeenEnd
from ottla.metadata.zookeeper.service import Znode, ZooKeeperService, retried
from ottla.metadata.zookeeper.snapshots import Snapshots


class LogBatchReader:
    def __init__(self, service: ZooKeeperService, snapshots: Snapshots, run_job: RunJob) -> None:
        self._service = service
        self._snapshots = snapshots
        self._run_job = run_job

    async def read(self, offset: int) -> tuple[Batch, SeenEnd] | None:
        """None if there is no batch at the offset."""
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
            if await self.is_trimmed(offset):
                return None  # its parts were removed while it was read
            raise CorruptMetadataError(f"the znode {path}", 0, str(error)) from error
        return batch, SeenEnd.of(header)

    async def is_trimmed(self, offset: int) -> bool:
        """Whether the batch at the offset is only in the snapshot."""
        pointer = await self._snapshots.pointer()
        return pointer is not None and pointer.offset > offset

    async def _read_parts(self, header: BatchZnodeHeader) -> bytes:
        parts = []
        for number in range(header.parts):
            path = part_path(header.base_offset, number, header.nonce)
            znode = await self._get(path)
            if znode is None:
                raise BadZnode(f"the znode {path} with a part of it is missing")
            parts.append(znode.data)
        return b"".join(parts)

    async def _get(self, path: str) -> Znode | None:
        return await retried(self._service, self._service.get, path)
