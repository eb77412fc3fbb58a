"""Sums of records by topic, partition and ten minutes of their timestamps.

    book = fold_arrow(batch)             # columns topic_id, partition, offset, timestamp, ...
    book = merge_books([book, another])  # in any order, however the records were divided
    text = json.dumps(encode_book(book))

Owns      what is summed (`Sums`), merging, and the JSON form.
Promises  sums of the same records are equal, whatever their order and however they were divided
          among batches, tasks and files; one record lost and another doubled is seen, because
          hashes are added and combined by exclusive or.
Leaves    the loops and the definition of the hashes to `protocol.records`, hashes of whole rows to
          `row_hashes.py`, and what a difference means to `comparison.py`.

Three hashes, because tiers know different things about the same record:

    place    topic id, partition, offset: which records are there
    content  timestamp, key, value, headers: what their producer wrote; None if a tier does not
             have the original bytes
    rows     the columns of a lake's rows: what was written into the table; None elsewhere
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.protocol.records import native
from ottla.protocol.records.arrow_building import header_columns, string_column
from ottla.protocol.records.column_layout import UINT64_MAX, BucketSums

BUCKET_MS = 600_000
UNDATED = -1  # the bucket of records without a usable timestamp
INT64_BYTES = 8


class BucketKey(NamedTuple):
    topic_id: str  # as Kafka writes ids: 22 characters
    partition: int
    bucket: int  # timestamp in ms // BUCKET_MS, or UNDATED

    @property
    def start_ms(self) -> int:
        return self.bucket * BUCKET_MS

    @property
    def end_ms(self) -> int:
        return self.start_ms + BUCKET_MS


class HashSums(NamedTuple):
    """64-bit hashes, added (mod 2**64) and combined by exclusive or."""

    sum: int = 0
    xor: int = 0

    def merged(self, other: HashSums) -> HashSums:
        return HashSums((self.sum + other.sum) & UINT64_MAX, self.xor ^ other.xor)

    def without(self, other: HashSums) -> HashSums:
        return HashSums((self.sum - other.sum) & UINT64_MAX, self.xor ^ other.xor)


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums of at least one record."""

    count: int
    place: HashSums
    min_timestamp: int
    max_timestamp: int
    first_offset: int
    last_offset: int
    bytes: int | None = None  # of keys, values and headers
    content: HashSums | None = None
    rows: HashSums | None = None

    def merged(self, other: Sums) -> Sums:
        """The sums of both. A hash that only one of them has is unknown for their union."""
        return Sums(
            self.count + other.count,
            self.place.merged(other.place),
            min(self.min_timestamp, other.min_timestamp),
            max(self.max_timestamp, other.max_timestamp),
            min(self.first_offset, other.first_offset),
            max(self.last_offset, other.last_offset),
            None if self.bytes is None or other.bytes is None else self.bytes + other.bytes,
            _merged_hashes(self.content, other.content),
            _merged_hashes(self.rows, other.rows),
        )


Book = dict[BucketKey, Sums]


def _merged_hashes(one: HashSums | None, other: HashSums | None) -> HashSums | None:
    return None if one is None or other is None else one.merged(other)


def merge_books(books: Iterable[Mapping[BucketKey, Sums]]) -> Book:
    merged: Book = {}
    for book in books:
        add_to(merged, book)
    return merged


def add_to(total: Book, book: Mapping[BucketKey, Sums]) -> None:
    for key, sums in book.items():
        known = total.get(key)
        total[key] = sums if known is None else known.merged(sums)


# Folding Arrow


def fold_arrow(
    batch: pa.RecordBatch,
    *,
    topic_id: str | None = None,
    partition: int | None = None,
    row_hashes: bytearray | None = None,
) -> Book:
    """The sums of the rows. `timestamp`, `offset`, and unless they are given for all rows,
    `topic_id` and `partition` are columns; with the columns `key` and `value` (binary) there are
    sums of the content, with `row_hashes` (see `row_hashes.py`) sums of the rows."""
    book: Book = {}
    if topic_id is not None and partition is not None:
        add_to(book, _fold_one(batch, topic_id, partition, row_hashes))
        return book
    for each_id, each_partition, rows in _groups(batch, topic_id, partition):
        part = batch if rows is None else batch.filter(rows)
        hashes = row_hashes if rows is None else _chosen(row_hashes, rows)
        add_to(book, _fold_one(part, each_id, each_partition, hashes))
    return book


def _groups(
    batch: pa.RecordBatch, topic_id: str | None, partition: int | None
) -> Iterator[tuple[str, int, pa.Array | None]]:
    """Each pair of topic id and partition, and its rows; None for all."""
    ids = None if topic_id is not None else batch.column("topic_id")
    numbers = None if partition is not None else batch.column("partition")
    all_ids = [topic_id] if ids is None else pc.unique(ids).to_pylist()
    all_numbers = [partition] if numbers is None else pc.unique(numbers).to_pylist()
    is_one = len(all_ids) == 1 and len(all_numbers) == 1
    for each_id in all_ids:
        of_id = None if ids is None or len(all_ids) == 1 else pc.equal(ids, each_id)
        for number in all_numbers:
            mask = of_id
            if numbers is not None and len(all_numbers) > 1:
                equal = pc.equal(numbers, number)
                mask = equal if mask is None else pc.and_(mask, equal)
            yield _id_text(each_id), _known(number, "partition"), None if is_one else mask


def _known(value: Any, name: str) -> int:
    if value is None:
        raise ValueError(f"a row without a {name}: it belongs to no record of a topic")
    return int(value)


def _id_text(value: Any) -> str:
    if isinstance(value, bytes) and len(value) == 16:
        return uuid_to_text(value)
    if isinstance(value, str):
        return uuid_to_text(uuid_from_text(value))
    raise ValueError(f"a row with the topic id {value!r}: it belongs to no record of a topic")


def _chosen(hashes: bytearray | None, rows: pa.Array) -> bytearray | None:
    if hashes is None:
        return None
    array = pa.Array.from_buffers(pa.uint64(), len(rows), [None, pa.py_buffer(hashes)])
    return bytearray(_numbers(array.filter(rows)))


def _fold_one(
    batch: pa.RecordBatch, topic_id: str, partition: int, row_hashes: bytearray | None
) -> Book:
    names = batch.schema.names
    with_content = "key" in names and "value" in names and _is_raw(batch.schema.field("value").type)
    headers = batch.column("headers") if with_content and "headers" in names else None
    found = native.fold_columns(
        batch.num_rows,
        _numbers(batch.column("offset")),
        _numbers(milliseconds(batch.column("timestamp"))),
        string_column(batch.column("key")) if with_content else None,
        string_column(batch.column("value")) if with_content else None,
        None if headers is None else header_columns(headers),
        row_hashes,
        with_content,
        uuid_from_text(topic_id),
        partition,
        BUCKET_MS,
    )
    return book_of(found, topic_id, partition, with_content, row_hashes is not None)


def _is_raw(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def milliseconds(timestamps: pa.Array) -> pa.Array:
    """Timestamps of any unit, as Kafka has them; rounded down where there is more."""
    kind = timestamps.type
    if pa.types.is_timestamp(kind) and kind.unit != "ms":
        if (pc.min(timestamps.cast(pa.int64())).as_py() or 0) < 0:
            # The cast rounds towards zero, which is another millisecond before 1970.
            timestamps = pc.floor_temporal(timestamps, unit="millisecond")
        timestamps = timestamps.cast(pa.timestamp("ms", kind.tz), safe=False)
    return timestamps.cast(pa.int64())


def _numbers(array: pa.Array) -> memoryview:
    if array.null_count:
        raise ValueError("a row without an offset or a timestamp: it belongs to no record")
    start = INT64_BYTES * array.offset
    return memoryview(array.buffers()[1] or b"")[start : start + INT64_BYTES * len(array)]


def book_of(
    found: Iterable[BucketSums],
    topic_id: str,
    partition: int,
    with_content: bool = True,
    with_rows: bool = False,
) -> Book:
    """The result of the loops as a book."""
    return {
        BucketKey(topic_id, partition, each.bucket): Sums(
            each.records,
            HashSums(each.place_sum, each.place_xor),
            each.min_timestamp,
            each.max_timestamp,
            each.first_offset,
            each.last_offset,
            each.size if with_content else None,
            HashSums(each.content_sum, each.content_xor) if with_content else None,
            HashSums(each.row_sum, each.row_xor) if with_rows else None,
        )
        for each in found
    }


# JSON


def encode_sums(sums: Sums) -> dict[str, Any]:
    """Hashes are texts of 16 hexadecimal digits: JSON numbers of other tools have 53 bits."""
    encoded: dict[str, Any] = {
        "count": sums.count,
        "place": _hash_text(sums.place),
        "timestamps": [sums.min_timestamp, sums.max_timestamp],
        "offsets": [sums.first_offset, sums.last_offset],
    }
    if sums.bytes is not None:
        encoded["bytes"] = sums.bytes
    if sums.content is not None:
        encoded["content"] = _hash_text(sums.content)
    if sums.rows is not None:
        encoded["rows"] = _hash_text(sums.rows)
    return encoded


def decode_sums(encoded: Mapping[str, Any]) -> Sums:
    """ValueError if it is not what `encode_sums` writes."""
    try:
        content, rows = encoded.get("content"), encoded.get("rows")
        size = encoded.get("bytes")
        (min_timestamp, max_timestamp), (first, last) = encoded["timestamps"], encoded["offsets"]
        return Sums(
            int(encoded["count"]),
            _hash_from(encoded["place"]),
            int(min_timestamp),
            int(max_timestamp),
            int(first),
            int(last),
            None if size is None else int(size),
            None if content is None else _hash_from(content),
            None if rows is None else _hash_from(rows),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not sums of the audit: {error!r}") from None


def encode_book(book: Mapping[BucketKey, Sums]) -> list[dict[str, Any]]:
    return [
        {"topic_id": key.topic_id, "partition": key.partition, "bucket": key.start_ms}
        | encode_sums(sums)
        for key, sums in sorted(book.items())
    ]


def decode_book(encoded: Iterable[Mapping[str, Any]]) -> Book:
    book: Book = {}
    for each in encoded:
        sums = decode_sums(each)
        try:
            key = BucketKey(
                str(each["topic_id"]), int(each["partition"]), int(each["bucket"]) // BUCKET_MS
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a book of the audit: {error!r}") from None
        add_to(book, {key: sums})
    return book


def _hash_text(hashes: HashSums) -> list[str]:
    return [f"{hashes.sum:016x}", f"{hashes.xor:016x}"]


def _hash_from(texts: Any) -> HashSums:
    one, other = texts
    return HashSums(int(one, 16), int(other, 16))
