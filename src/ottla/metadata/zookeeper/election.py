"""The election of the controller: the znode `/controller` belongs to one session at a time.

Promises  each claim has a controller epoch of its own. An election changes `/controller_epoch` and
          creates `/controller` in one transaction, so that a broker with an earlier claim cannot
          append any more. A znode with other data than a broker writes is named in the log; one
          that is not ephemeral, which no broker creates, is deleted. Epochs do not go back, nor far
          ahead, whatever is in `/controller_epoch`. ChrootMissing if everything was deleted.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress

from ottla.base.clock import Clock
from ottla.metadata.zookeeper.claim import Claim
from ottla.metadata.zookeeper.json_data import decode_object, whole_number
from ottla.metadata.zookeeper.layout import CONTROLLER, CONTROLLER_EPOCH
from ottla.metadata.zookeeper.service import (
    Check,
    ChrootMissing,
    Create,
    Delete,
    Operation,
    OutcomeUnknown,
    VersionMismatch,
    Write,
    Znode,
    ZnodeExists,
    ZnodeMissing,
    ZnodeRefused,
    ZooKeeperService,
    retried,
)

log = logging.getLogger(__name__)
OnVacancy = Callable[[], None]
UNKNOWN = -1  # a controller whose znode cannot be read
# The log may have an earlier epoch than the last election: a controller without a decision appends
# nothing. A number that is further ahead was written by hand. Without this bound one edit could use
# up all epochs, which are 32 bits in requests and snapshots.
ELECTIONS_WITHOUT_BATCH_MAX = 1_000_000


async def elect(
    service: ZooKeeperService, broker_id: int, clock: Clock, known_epoch: int = 0
) -> Claim | None:
    """Claim the controllership. None if another session has it, or was quicker. The metadata log
    has batches of `known_epoch`."""
    epoch = await _read_epoch(service)
    number = _number(epoch)
    if number is None or not 0 <= number - known_epoch <= ELECTIONS_WITHOUT_BATCH_MAX:
        number = known_epoch
        log.warning(
            "the znode %s has %r, but the metadata log has epoch %d: continuing from there",
            CONTROLLER_EPOCH, epoch.data[:40], known_epoch,
        )  # fmt: skip
    claim = Claim(broker_id, number + 1, epoch.version + 1)
    operations: list[Operation] = [
        Write(CONTROLLER_EPOCH, str(claim.controller_epoch).encode(), epoch.version),
        Create(CONTROLLER, _encode(claim, clock.now_ms()), is_ephemeral=True),
    ]
    try:
        await service.multi(operations)
    except (ZnodeExists, ZnodeMissing, VersionMismatch):
        return None
    except OutcomeUnknown:
        return claim if await holds_controller(service, claim) else None
    return claim


async def read_controller(
    service: ZooKeeperService, on_change: OnVacancy | None = None
) -> int | None:
    """The id of the broker that is the controller; None if there is none, UNKNOWN if its znode was
    not written by a broker. `on_change` is called when the controller's znode changes; never if
    there is none."""
    znode = await retried(service, service.get, CONTROLLER, on_change)
    if znode is None:
        return None
    if not znode.is_ephemeral:
        await _delete_hand_made(service)
        return UNKNOWN
    found = _decode(znode).get("brokerid", UNKNOWN)
    if found == UNKNOWN:
        log.error(
            "the znode %s has %r, which no broker has written: there is no controller until it is "
            "deleted; delete it if that was done by hand",
            CONTROLLER, znode.data[:40],
        )  # fmt: skip
    return found


async def _delete_hand_made(service: ZooKeeperService) -> None:
    """Delete a controller that is not ephemeral: there would be no election as long as it exists.
    If it has changed meanwhile, the caller's watch reports it."""
    epoch = await _read_epoch(
        service
    )  # before: an election changes it, and then nothing is deleted
    znode = await retried(service, service.get, CONTROLLER)
    if znode is None or znode.is_ephemeral:
        return
    log.warning(
        "the znode %s has %r and is not ephemeral: no broker has created it, and it is deleted",
        CONTROLLER, znode.data[:40],
    )  # fmt: skip
    deletion: list[Operation] = [
        Check(CONTROLLER_EPOCH, epoch.version),
        Delete(CONTROLLER, znode.version),
    ]
    try:
        await retried(service, service.multi, deletion)
    except (ZnodeMissing, VersionMismatch):
        pass
    except ZnodeRefused as error:
        log.error("there is no controller until the znode %s is deleted: %s", CONTROLLER, error)


async def holds_controller(
    service: ZooKeeperService, claim: Claim, on_change: OnVacancy | None = None
) -> bool:
    """Whether the znode is the one of this claim, in a session that lasts."""
    znode = await retried(service, service.get, CONTROLLER, on_change)
    return (
        znode is not None
        and znode.owner == service.session.id
        and _decode(znode).get("epoch") == claim.controller_epoch
    )


async def resign(service: ZooKeeperService) -> None:
    """Remove the znode `/controller`, unless another broker was elected already. The epoch is not
    compared with that of the claim: if it was changed manually, the controller cannot append
    either, and must resign."""
    while True:
        # Read before `/controller`: a later election changes it. The znode of the next controller
        # has the same version as ours.
        epoch = await _read_epoch(service)
        znode = await retried(service, service.get, CONTROLLER)
        if znode is None or znode.owner != service.session.id:
            return
        guard = Check(CONTROLLER_EPOCH, epoch.version)
        with suppress(ZnodeMissing, VersionMismatch):
            await retried(service, service.multi, [guard, Delete(CONTROLLER)])


async def depose(service: ZooKeeperService, broker_id: int) -> None:
    """End the claim of a controller whose process has ended, before its session expires. If it has
    not ended, it cannot append any more once another one is elected."""
    znode = await retried(service, service.get, CONTROLLER)
    if znode is not None and _decode(znode).get("brokerid") == broker_id:
        # A znode that was deleted and created again has the same version: compare the epoch too.
        epoch = await _read_epoch(service)
        if _number(epoch) == _decode(znode).get("epoch"):
            guard = Check(CONTROLLER_EPOCH, epoch.version)
            with suppress(ZnodeMissing, VersionMismatch, OutcomeUnknown):
                await service.multi([guard, Delete(CONTROLLER)])


async def _read_epoch(service: ZooKeeperService) -> Znode:
    while True:
        znode = await retried(service, service.get, CONTROLLER_EPOCH)
        if znode is not None:
            return znode
        try:
            await retried(service, service.multi, [Create(CONTROLLER_EPOCH, b"0")])
        except ZnodeExists:
            pass  # another broker was quicker
        except ZnodeMissing as error:
            raise ChrootMissing(service.address) from error


def _number(epoch: Znode) -> int | None:
    """None if it is not a number."""
    try:
        return int(epoch.data)
    except ValueError:
        return None


def _encode(claim: Claim, now_ms: int) -> bytes:
    fields = {
        "version": 2,
        "brokerid": claim.broker_id,
        "timestamp": str(now_ms),
        "kraftControllerEpoch": -1,
        "epoch": claim.controller_epoch,
    }
    return json.dumps(fields).encode()


def _decode(znode: Znode) -> dict[str, int]:
    """Empty if it is not what a broker has written."""
    try:
        fields = decode_object(znode.data)
        whole_number(fields, "brokerid")
    except (ValueError, KeyError):
        return {}
    return fields
