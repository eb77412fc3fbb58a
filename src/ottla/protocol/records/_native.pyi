"""What `_native.pyx` offers: the functions of `_plain`, where they are documented."""

from collections.abc import Iterable

from ottla.protocol.records.batch import Buffer
from ottla.protocol.records.column_layout import (
    BucketSums,
    FilledColumns,
    HeaderColumns,
    RecordSegment,
    StringColumn,
)
from ottla.protocol.records.record import Record

def walk(
    data: Buffer,
    start: int,
    end: int,
    count: int,
    base_timestamp: int,
    check_offsets: bool,
    require_keys: bool,
) -> tuple[int, int]: ...
def skip(data: Buffer, start: int, end: int, first: int, count: int) -> int: ...
def decode(
    body: bytes,
    position: int,
    first: int,
    count: int,
    is_last: bool,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None,
) -> tuple[list[Record], int]: ...
def index(
    data: Buffer,
    start: int,
    end: int,
    first: int,
    count: int,
    is_last: bool,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None,
    numbers: memoryview,
    places: memoryview,
) -> int: ...
def slices(data: Buffer, starts: Buffer, sizes: Buffer) -> list[bytes | None]: ...
def encode(records: Iterable[Record], base_offset: int, base_timestamp: int) -> bytearray: ...
def select(
    data: Buffer, start: int, end: int, count: int, keep: Buffer, timestamp_shift: int
) -> bytearray: ...
def columns(segments: Iterable[RecordSegment], with_headers: bool) -> FilledColumns: ...
def encode_columns(
    first: int,
    end_row: int,
    bytes_max: int,
    base_timestamp: int,
    timestamps: Buffer,
    keys: StringColumn | None,
    values: StringColumn | None,
    headers: HeaderColumns | None,
    reserve: int,
) -> tuple[bytearray, int, int]: ...
def key_partitions(keys: StringColumn, partitions: int, without_key: int) -> bytearray: ...
def group_rows(groups: Buffer, count: int) -> tuple[bytearray, list[int]]: ...
def xxh64(data: Buffer, seed: int = 0) -> int: ...
def fold_segments(
    segments: Iterable[RecordSegment], topic_id: bytes, partition: int, bucket_ms: int
) -> list[BucketSums]: ...
def fold_columns(
    count: int,
    offsets: Buffer,
    timestamps: Buffer,
    keys: StringColumn | None,
    values: StringColumn | None,
    headers: HeaderColumns | None,
    row_hashes: Buffer | None,
    with_content: bool,
    topic_id: bytes,
    partition: int,
    bucket_ms: int,
) -> list[BucketSums]: ...
def add_hashes(hashes: Buffer, column: StringColumn, seed: int) -> None: ...
def finish_hashes(hashes: Buffer) -> None: ...
