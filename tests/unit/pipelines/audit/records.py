"""Records of a topic as Arrow batches, for the tests of the audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ottla.pipelines.sums.record_sums import Book, fold_arrow, merge_books

TOPIC_ID = "AAECAwQFBgcICQoLDA0ODw"
OTHER_ID = "8AECAwQFBgcICQoLDA0ODw"
START_MS = 1_767_225_600_000  # the beginning of a bucket
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
SCHEMA = pa.schema(
    [
        ("topic_id", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
    ]
)

Row = dict[str, Any]


def row(offset: int, **changed: Any) -> Row:
    """One record every ten seconds: sixty in a bucket."""
    usual = {
        "topic_id": TOPIC_ID,
        "partition": 0,
        "offset": offset,
        "timestamp": (START_MS + 10_000 * offset) * 1000,
        "key": f"key {offset % 7}".encode(),
        "value": f"value {offset}".encode(),
        "headers": [],
    }
    return usual | changed


def batch_of(rows: Sequence[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema=SCHEMA)


def book_of_rows(rows: Sequence[Row]) -> Book:
    return fold_arrow(batch_of(rows)) if rows else merge_books([])
