"""Bad and late rows as records for their topics: the original bytes, and headers with their origin.

    ottla-pipeline · ottla-topic · ottla-topic-id · ottla-partition · ottla-offset · ottla-timestamp
    ottla-reason

Owns      the headers, and reading them back. The record keeps its key, value, headers and
          timestamp, so that `replay-bad` can process it as if it had just been read. The id tells
          a topic from one of the same name that was deleted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql.types import BinaryType, StringType, StructType, TimestampType

from ottla.pipelines.lake.columns import HEADERS, TIME
from ottla.spark.records.schema import HEADERS_TYPE

SCHEMA = (
    StructType()
    .add("key", BinaryType())
    .add("value", BinaryType())
    .add("headers", HEADERS_TYPE)
    .add("timestamp", TimestampType())
    .add("topic", StringType())
)
ARROW = pa.schema(
    [
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS),
        ("timestamp", TIME),
        ("topic", pa.string()),
    ]
)
PREFIX = "ottla-"


def side_records(
    rows: pa.RecordBatch,
    numbers: Sequence[int],
    reasons: Sequence[str],
    topic: str,
    pipeline: str,
    topic_ids: Mapping[str, str],
) -> pa.RecordBatch:
    """Records for `topic` of these rows, which have the columns of the source. `topic_ids` are
    those of the source, by name."""
    chosen = rows.take(pa.array(numbers, pa.int64()))
    has_headers = "headers" in chosen.schema.names
    origins = zip(
        chosen.column("topic").to_pylist(),
        chosen.column("partition").to_pylist(),
        chosen.column("offset").to_pylist(),
        chosen.column("timestamp").cast(pa.int64()).to_pylist(),
        reasons,
        chosen.column("headers").to_pylist() if has_headers else [None] * len(numbers),
        strict=True,
    )
    headers = [
        [
            *(old or []),
            *_headers(
                {
                    "pipeline": pipeline,
                    "topic": source,
                    "topic-id": topic_ids.get(source, ""),
                    "partition": partition,
                    "offset": offset,
                    "timestamp": time_us // 1000,
                    "reason": reason,
                }
            ),
        ]
        for source, partition, offset, time_us, reason, old in origins
    ]
    return pa.RecordBatch.from_arrays(
        [
            chosen.column("key"),
            chosen.column("value"),
            pa.array(headers, HEADERS),
            chosen.column("timestamp"),
            pa.repeat(topic, len(numbers)),
        ],
        schema=ARROW,
    )


def _headers(fields: Mapping[str, object]) -> list[dict[str, str | bytes]]:
    return [{"key": PREFIX + name, "value": str(value).encode()} for name, value in fields.items()]


def origin_of(headers: Sequence[Mapping[str, bytes]] | None) -> dict[str, str]:
    """What the headers of a bad or late record say, without the prefix; the last of each."""
    return {
        str(each["key"]).removeprefix(PREFIX): each["value"].decode()
        for each in headers or ()
        if str(each["key"]).startswith(PREFIX) and each["value"] is not None
    }
