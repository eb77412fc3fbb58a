"""Arrow batches with exactly the schema of the query.

Owns      converting the decoder's table (`protocol.records.arrow`) into Spark's columns.
Promises  no Python code runs per row; a column with the same value in every row is built once for
          a task and sliced; only the columns of the schema are built.
Leaves    decoding of values to `values.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from ottla.base.ids import TopicPartition
from ottla.spark.records.values import BAD_REASON, BAD_VALUE, Decode, bad_reasons, bad_values

MICROSECONDS = pa.timestamp("us", tz="UTC")
# Times in ms beyond these do not fit into microseconds. Brokers accept any timestamp.
TIME_MS_MIN, TIME_MS_MAX = -(2**63) // 1000 + 1, 2**63 // 1000 - 1

Column = Callable[[pa.RecordBatch], pa.Array]


class Columns:
    """Builds the batches of one partition."""

    def __init__(
        self, schema: pa.Schema, partition: TopicPartition, decode: Decode | None = None
    ) -> None:
        self._schema = schema
        self._decode = decode
        self._make = [self._maker(field, partition) for field in schema]

    def build(self, table: pa.RecordBatch) -> pa.RecordBatch:
        if self._decode is not None:
            table = self._with_decoded(table, self._decode)
        arrays = [make(table) for make in self._make]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _with_decoded(self, table: pa.RecordBatch, decode: Decode) -> pa.RecordBatch:
        values = table.column("value")
        decoded = decode(values, self._schema.field("value").type)
        columns = dict(zip(table.schema.names, table.columns, strict=True))
        columns["value"] = decoded.values
        columns[BAD_VALUE] = bad_values(values, decoded.reasons)
        columns[BAD_REASON] = bad_reasons(len(values), decoded.reasons)
        return pa.RecordBatch.from_pydict(columns)

    def _maker(self, field: pa.Field, partition: TopicPartition) -> Column:
        match field.name:
            case "topic":
                return _Repeated(pa.scalar(partition.topic, pa.string()))
            case "partition":
                return _Repeated(pa.scalar(partition.partition, pa.int32()))
            case "timestamp":
                return lambda table: to_microseconds(table.column("timestamp"))
            case "timestampType":
                return lambda table: table.column("timestamp_type")
            case "headers":
                return lambda table: headers_or_null(table.column("headers"), field.type)
        return lambda table: table.column(field.name)


class _Repeated:
    """The same value in every row, built once for the longest batch so far."""

    def __init__(self, value: pa.Scalar) -> None:
        self._value = value
        self._column = pa.repeat(value, 0)

    def __call__(self, table: pa.RecordBatch) -> pa.Array:
        if table.num_rows > len(self._column):
            self._column = pa.repeat(self._value, table.num_rows)
        return self._column.slice(0, table.num_rows)


def to_microseconds(times: pa.Array) -> pa.Array:
    """Times in ms; those out of range become the nearest that Spark can represent."""
    try:
        return times.cast(MICROSECONDS)
    except pa.ArrowInvalid:
        numbers = times.cast(pa.int64())
        kept = pc.min_element_wise(pc.max_element_wise(numbers, TIME_MS_MIN), TIME_MS_MAX)
        return kept.cast(times.type).cast(MICROSECONDS)


def headers_or_null(headers: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Null for a record without headers, as with Spark's `kafka` format."""
    has_none = pc.equal(pc.list_value_length(headers), 0)
    if not pc.any(has_none).as_py():
        return headers if headers.type.equals(wanted) else headers.cast(wanted)
    lists = pa.ListArray.from_arrays(headers.offsets, headers.values, mask=has_none)
    return lists.cast(wanted)
