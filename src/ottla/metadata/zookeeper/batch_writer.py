"""Appends one batch to the metadata log, as the broker that was elected.

Promises  a batch is created in one transaction that also compares the version of the znode
          `/controller_epoch`, which every election changes. It is named by its offset and carries a
          nonce, so that an append that is repeated after a lost connection happens once.
Leaves    where the log ends to the caller.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

from ottla.base.scheduling.threads import RunJob
from ottla.metadata.image import Batch
from ottla.metadata.log import AppendDenied, AppendRefused
from ottla.metadata.zookeeper.batch_znode import (
    BadZnode,
    EncodedBatch,
    decode_header,
    encode_batch,
)
from ottla.metadata.zookeeper.claim import Claim
from ottla.metadata.zookeeper.layout import CONTROLLER_EPOCH, PARTS, batch_path, part_path
from ottla.metadata.zookeeper.log_comparison import SeenEnd
from ottla.metadata.zookeeper.seen_log import SeenLog
from ottla.metadata.zookeeper.service import (
    Check,
    Create,
    Operation,
    OutcomeUnknown,
    ZnodeError,
    ZnodeExists,
    ZnodeMissing,
    ZnodeRefused,
    ZooKeeperService,
    create_missing,
    retried,
)

log = logging.getLogger(__name__)


class LogBatchWriter:
    def __init__(
        self,
        service: ZooKeeperService,
        run_job: RunJob,
        new_nonce: Callable[[], str],
        seen: SeenLog,
    ) -> None:
        self._service = service
        self._run_job = run_job
        self._new_nonce = new_nonce
        self._seen = seen

    async def write(self, batch: Batch, claim: Claim) -> int:
        """How many bytes were written. AppendRefused if nothing was, and another broker may have
        been elected."""
        nonce = self._new_nonce()
        encoded = await self._run_job(lambda: encode_batch(batch, claim.broker_id, nonce))
        try:
            await self._create_parts(batch.base_offset, nonce, encoded)
        except ZnodeRefused as error:
            raise append_refused(error) from error
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
                await self._seen.compare_if_lost()
            except ZnodeError as error:
                if is_repeated and await self._has_nonce(path, nonce):
                    break  # the request whose response was lost had succeeded
                raise append_refused(error) from error
        # The response may be of another ZooKeeper, after a loss that is reported only now.
        await self._seen.compare_if_lost()
        self._seen.note(SeenEnd(batch.end_offset, batch.base_offset, nonce))
        return len(encoded.data) + sum(map(len, encoded.parts))

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
        znode = await retried(self._service, self._service.get, path)
        if znode is None:
            return False
        try:
            return decode_header(znode.data)[0].nonce == nonce
        except BadZnode:
            return False


def append_refused(error: ZnodeError) -> AppendRefused:
    if isinstance(error, ZnodeRefused):
        return AppendDenied(str(error))
    return AppendRefused(f"the znode {error.path} has changed, as when another broker is elected")
