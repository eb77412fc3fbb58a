"""The election of the controller: the znode `/controller` belongs to one session at a time.

Promises  each claim has a controller epoch of its own. An election changes `/controller_epoch` and
          creates `/controller` in one transaction, so that a broker with an earlier claim cannot
          append any more. A znode with other data than a broker writes is named in the log; epochs
          do not go back, whatever is in `/controller_epoch`. ChrootMissing if everything was
          deleted.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from contextlib import suppress

from ottla.base.clock import Clock
from ottla.metadata.zookeeper.claim import Claim
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
    ZooKeeperService,
    retried,
)

log = logging.getLogger(__name__)
OnVacancy = Callable[[], None]
UNKNOWN = -1  # a controller whose znode cannot be read


async def elect(
    service: ZooKeeperService, broker_id: int, clock: Clock, known_epoch: int = 0
) -> Claim | None:
    """Claim the controllership. None if another session has it, or was quicker. The metadata log
    has batches of `known_epoch`."""
    epoch = await _read_epoch(service)
    number = _number(epoch)
    if number is None or number < known_epoch:
        log.warning(
            "the znode %s has %r, but the metadata log has epoch %d: going on from there",
            CONTROLLER_EPOCH, epoch.data[:40], known_epoch,
        )  # fmt: skip
    claim = Claim(broker_id, max(number or 0, known_epoch) + 1, epoch.version + 1)
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
    found = _decode(znode).get("brokerid", UNKNOWN)
    if found == UNKNOWN:
        log.error(
            "the znode %s has %r, which no broker has written: there is no controller until it is "
            "deleted; delete it if that was done by hand",
            CONTROLLER, znode.data[:40],
        )  # fmt: skip
    return found


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
        fields = json.loads(znode.data)
        return dict(fields) if isinstance(fields["brokerid"], int) else {}
    except (ValueError, KeyError, TypeError):
        return {}
