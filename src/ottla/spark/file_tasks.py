"""Records written to Parquet files by the tasks that fetch them: only the files pass through Spark.

    path string · topic string · partition int · startOffset bigint · endOffset bigint ·
    rows bigint · bytes bigint

Owns      the names of the files and the rows that tell of them.
Promises  a file is whole or not there. The same range of offsets gives the same name, so that a
          task that runs again replaces its own file. A range without records (markers, aborted or
          compacted ones) has a row without a path: every offset of a query is told of.
Leaves    which files count to whoever keeps the rows: after a retry that splits ranges in another
          way, files may lie there that no kept row names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from ottla.config.options import InvalidOption
from ottla.spark.splitting import OffsetRange

FILE_ROWS = StructType(
    [
        StructField("path", StringType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("startOffset", LongType()),
        StructField("endOffset", LongType()),
        StructField("rows", LongType()),
        StructField("bytes", LongType()),
    ]
)
_ARROW = pa.schema(
    [
        ("path", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("startOffset", pa.int64()),
        ("endOffset", pa.int64()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
    ]
)
ROW_GROUP_BYTES = 64 * 1024 * 1024
# Of the others hardly any value comes twice: looking for that costs more than it saves.
DICTIONARIES = ["topic", "partition", "timestampType"]


def check_file_schema(schema: StructType) -> None:
    if schema.simpleString() != FILE_ROWS.simpleString():
        raise InvalidOption(
            "Option filesTo: the rows of the query are files: leave the schema out, or give "
            f"{FILE_ROWS.simpleString()}."
        )


def write_file(
    batches: Iterator[pa.RecordBatch], directory: str, wanted: OffsetRange
) -> Iterator[pa.RecordBatch]:
    """Writes what comes, and tells of it in one row."""
    files, folder = _open_directory(directory)
    name = f"{wanted.place.topic}-{wanted.place.partition}-{wanted.start:020}-{wanted.end:020}"
    path = f"{folder}/{name}.parquet"
    is_local = isinstance(files, pafs.LocalFileSystem)
    # Object stores show a file when it is complete; a file system shows it while it grows.
    written = f"{folder}/.{name}.{uuid4().hex}" if is_local else path
    rows = _write(batches, files, written)
    size = files.get_file_info(written).size if rows else 0
    if rows and is_local:
        _publish(written, path)
    place = wanted.place
    shown = path if rows else None
    row = [shown, place.topic, place.partition, wanted.start, wanted.end, rows, size]
    yield pa.RecordBatch.from_arrays(
        [pa.array([value], field.type) for value, field in zip(row, _ARROW, strict=True)],
        schema=_ARROW,
    )


def _open_directory(directory: str) -> tuple[pafs.FileSystem, str]:
    try:
        files, folder = pafs.FileSystem.from_uri(directory)
    except pa.ArrowInvalid:  # a plain relative path
        files, folder = pafs.LocalFileSystem(), os.path.abspath(directory)
    files.create_dir(folder, recursive=True)
    return files, folder.rstrip("/")


def _write(batches: Iterator[pa.RecordBatch], files: pafs.FileSystem, path: str) -> int:
    writer: pq.ParquetWriter | None = None
    rows = 0
    try:
        for group in _row_groups(batches):
            if writer is None:
                names = [name for name in DICTIONARIES if name in group.schema.names]
                writer = pq.ParquetWriter(
                    path, group.schema, filesystem=files, use_dictionary=names
                )
            writer.write_table(group, row_group_size=group.num_rows)
            rows += group.num_rows
    except BaseException:
        if writer is not None:
            writer.close()
            files.delete_file(path)
        raise
    if writer is not None:
        writer.close()
    return rows


def _row_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    gathered: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        gathered.append(batch)
        size += batch.nbytes
        if size >= ROW_GROUP_BYTES:
            yield pa.Table.from_batches(gathered)
            gathered, size = [], 0
    if gathered:
        yield pa.Table.from_batches(gathered)


def _publish(written: str, path: str) -> None:
    """On the disk before it has its name: the name is what a kept row promises."""
    with open(written, "rb") as file:
        os.fsync(file.fileno())
    os.replace(written, path)
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
