"""Control records: transaction markers, and records of KRaft.

Owns      the key and value layout of control records, and batches with a transaction marker.
Promises  an unknown control type is not an error: readers skip it.
Leaves    the effect of a marker on open transactions to the producer state.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from ottla.base.ids import NO_LEADER_EPOCH
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import NO_SEQUENCE, Buffer, read_header
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record

CONTROL_BYTES_MAX = 64 * 1024  # decompressed; markers have 10 bytes, KRaft's records slightly more

_KEY = Struct(">hh")  # version, type
_MARKER = Struct(">hi")  # version, coordinator epoch
_VERSION = 0


class ControlType(IntEnum):
    UNKNOWN = -1
    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class EndMarker(NamedTuple):
    """The end of one producer's transaction in one partition."""

    is_commit: bool
    coordinator_epoch: int


def build_end_marker(
    is_commit: bool,
    coordinator_epoch: int,
    *,
    producer_id: int,
    producer_epoch: int,
    timestamp_ms: int,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
) -> bytearray:
    """A batch with the control record that ends a transaction."""
    control_type = ControlType.COMMIT if is_commit else ControlType.ABORT
    record = Record(
        offset=base_offset,
        timestamp=timestamp_ms,
        key=_KEY.pack(_VERSION, control_type),
        value=_MARKER.pack(_VERSION, coordinator_epoch),
    )
    return build_batch(
        [record],
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=NO_SEQUENCE,
        is_transactional=True,
        is_control=True,
        leader_epoch=leader_epoch,
    )


def read_end_marker(batch: Buffer, position: int = 0) -> EndMarker | None:
    """The marker in the control batch at `position`; None for any other control batch."""
    record = first_record(batch, position)
    if record is None:
        return None
    control_type = control_type_of(record)
    if control_type not in (ControlType.ABORT, ControlType.COMMIT):
        return None
    value = record.value or b""
    if len(value) < _MARKER.size:
        raise _invalid(f"a transaction marker of {len(value)} bytes")
    version, coordinator_epoch = _MARKER.unpack_from(value)
    if version < 0:
        raise _invalid(f"a transaction marker of version {version}")
    return EndMarker(control_type is ControlType.COMMIT, coordinator_epoch)


def control_type_of(record: Record) -> ControlType:
    """The type in a control record's key; later versions of the key only add fields."""
    key = record.key or b""
    if len(key) < _KEY.size:
        raise _invalid(f"a control record whose key has {len(key)} bytes")
    version, number = _KEY.unpack_from(key)
    if version < 0:
        raise _invalid(f"a control record key of version {version}")
    try:
        return ControlType(number)
    except ValueError:
        return ControlType.UNKNOWN


def first_record(batch: Buffer, position: int = 0) -> Record | None:
    """The first record of a control batch; None if compaction has removed it."""
    if not read_header(batch, position).is_control:
        raise _invalid(f"batch at {position} is no control batch")
    return next(iterate_records(batch, position, CONTROL_BYTES_MAX), None)


def _invalid(what: str) -> InvalidBatch:
    return InvalidBatch(ErrorCode.INVALID_RECORD, what)
