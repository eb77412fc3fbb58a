"""Whether ZooKeeper still has what this broker has seen of the metadata log.

Znodes may be deleted or edited by hand, and ZooKeeper may be restored from an older copy, or be
replaced by that of another cluster, while brokers run. None of it looks wrong from the end of the
log: the next batch is not there yet, as always.

Promises  a log that lacks the last batch that was seen, or has another one in its place
          (`find_fault`), or lacks one before later ones (also `find_gap`), is MetadataLost, with
          the znode. Nothing is changed.
Leaves    when to compare to `seen_log.py`; damage of other batches to those that read them.

While the connection lasts, it is the same ZooKeeper, and only a gap ahead is looked for. A batch
that was read, and is deleted then, ends no broker: a snapshot replaces it soon.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import NamedTuple

from ottla.metadata.log import MetadataLost
from ottla.metadata.zookeeper.batch_znode import (
    BadZnode,
    BatchZnodeHeader,
    NewerZnode,
    decode_header,
)
from ottla.metadata.zookeeper.layout import LOG, SNAPSHOT, batch_offset, batch_path, log_location
from ottla.metadata.zookeeper.service import Znode, ZooKeeperService, retried
from ottla.metadata.zookeeper.snapshots import Snapshots

log = logging.getLogger(__name__)


class SeenEnd(NamedTuple):
    """The end of what was read or appended. The nonce is that of the last batch; empty if that was
    in a snapshot."""

    offset: int = 0
    base_offset: int = 0
    nonce: str = ""

    @classmethod
    def of(cls, header: BatchZnodeHeader) -> SeenEnd:
        return cls(header.end_offset, header.base_offset, header.nonce)

    @property
    def path(self) -> str:
        return batch_path(self.base_offset)


class Stored(NamedTuple):
    offsets: Collection[int] | None  # of the batches; None if their folder does not exist
    last_seen: Znode | None
    snapshot_offset: int


Find = Callable[[SeenEnd, Stored], str | None]


async def list_batches(service: ZooKeeperService) -> list[int] | None:
    """The offsets of all batches, in order; None if their folder does not exist."""
    names = await retried(service, service.children, LOG)
    if names is None:
        return None
    return sorted(offset for each in names if (offset := batch_offset(each)) is not None)


async def compare(
    service: ZooKeeperService, snapshots: Snapshots, seen: SeenEnd, find: Find
) -> None:
    """MetadataLost if `find` finds something wrong."""
    await retried(service, service.sync)  # the server may be behind the last one
    offsets = await list_batches(service)
    if offsets is not None and seen.offset not in offsets:
        offsets = await _without_hand_made(service, offsets, seen.offset)
    last_seen = await retried(service, service.get, seen.path)
    pointer = await snapshots.pointer()  # last: batches are trimmed after it is written
    snapshot_offset = 0 if pointer is None else pointer.offset
    fault = find(seen, Stored(offsets, last_seen, snapshot_offset))
    if fault is not None:
        raise MetadataLost(log_location(service.address), fault)


async def _without_hand_made(
    service: ZooKeeperService, offsets: list[int], end_offset: int
) -> list[int]:
    """Without later znodes that no broker has written: they do not show that a batch is missing."""
    for offset in offsets:
        if offset > end_offset and not await _is_hand_made(service, offset):
            return offsets
    return [each for each in offsets if each < end_offset]


async def _is_hand_made(service: ZooKeeperService, offset: int) -> bool:
    path = batch_path(offset)
    znode = await retried(service, service.get, path)
    # A broker writes a batch once: the version of one that was edited is not 0.
    if znode is not None and (znode.version or _is_batch(znode, offset)):
        return False
    if znode is not None:
        log.error("the znode %s was created by something else than a broker: delete it", path)
    return True


def _is_batch(znode: Znode, offset: int) -> bool:
    try:
        header, _ = decode_header(znode.data)
    except NewerZnode:
        return True
    except BadZnode:
        return False
    return header.base_offset == offset


def find_fault(seen: SeenEnd, found: Stored) -> str | None:
    """Anything that this broker would contradict if it continued."""
    if found.offsets is None:
        return f"the znode {LOG} is missing"
    if found.snapshot_offset > seen.offset:
        return None  # the snapshot is loaded next, and compared then
    if found.snapshot_offset < seen.offset and (fault := _fault_of_last(seen, found)) is not None:
        return fault
    return find_gap(seen, found)


def find_gap(seen: SeenEnd, found: Stored) -> str | None:
    """What is wrong if there are later batches after one that is missing; otherwise None."""
    if found.snapshot_offset > seen.offset:
        return None
    later = [each for each in found.offsets or () if each >= seen.offset]
    return missing_batch(seen.offset) if later and min(later) > seen.offset else None


def missing_batch(offset: int) -> str:
    path = batch_path(offset)
    if offset == 0:
        return (
            f"the znodes {SNAPSHOT} and {path} are missing, although later batches exist: one of "
            "them was deleted"
        )
    return f"the znode {path} is missing, although later ones exist: it was deleted"


def _fault_of_last(seen: SeenEnd, found: Stored) -> str | None:
    if not seen.nonce:
        return (
            f"the znode {SNAPSHOT} is missing, or is that of an older copy: it ends at offset "
            f"{found.snapshot_offset}, but this broker has seen offset {seen.offset}"
        )
    if found.last_seen is None:
        return (
            f"the znode {seen.path} is missing, which this broker has seen: it was deleted, or "
            "this is an older copy"
        )
    try:
        header, _ = decode_header(found.last_seen.data)
    except BadZnode as error:
        log.error(
            "the znode %s was edited: %s; brokers that run have read it before, one that is "
            "started refuses it: restore it", seen.path, error,
        )  # fmt: skip
        return None
    if header.nonce != seen.nonce:
        return (
            f"the znode {seen.path} has another batch than the one that this broker has seen: "
            "this is another copy, or the metadata log of another cluster"
        )
    return None
