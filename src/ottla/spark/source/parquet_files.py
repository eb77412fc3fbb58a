"""The option `filesTo`: tasks write the records into Parquet files, and Spark gets the file names.

    path string · topic string · partition int · startOffset bigint · endOffset bigint ·
    rows bigint · bytes bigint

Owns      the names of the files, and the rows that describe them.
Promises  a file is complete or does not exist, and no attempt of a task damages the file of
          another. In a file system the name depends only on the topic id and the range, so that a
          repeated task replaces its own file; in an object store, where a file cannot be renamed,
          every attempt has its own name. A range without records (only markers, aborted or
          compacted records) has a row without a path: the rows cover every offset of the query.
Leaves    the list of valid files to the application, which stores the rows: after a retry there may
          be files that are in no stored row.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from ottla.base.uuids import uuid_to_text
from ottla.config.options import InvalidOption
from ottla.spark.errors import SourceError
from ottla.spark.planning.range_splitting import TaskRange

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
# In the other columns few values repeat: a dictionary would cost more than it saves.
DICTIONARIES = ["topic", "partition", "timestampType"]

BUCKETS = frozenset({"s3", "gs", "gcs"})  # schemes whose paths begin with the bucket
SCHEMES = BUCKETS | {"file", "hdfs", "viewfs", "abfs", "abfss"}  # that pyarrow supports
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


def check_directory(directory: str) -> None:
    """InvalidOption for a URL with a scheme that pyarrow does not support."""
    if not directory.strip():
        raise InvalidOption("Option filesTo is empty: give a directory or a URL.")
    scheme = scheme_of(directory)
    if scheme is None or scheme in SCHEMES:
        return
    advice = " Use s3:// instead: pyarrow writes the files, not Hadoop." if scheme == "s3a" else ""
    raise InvalidOption(
        f"Option filesTo: pyarrow cannot write to {scheme}: give a directory, or a URL with "
        f"{', '.join(sorted(SCHEMES))}.{advice}"
    )


def scheme_of(directory: str) -> str | None:
    found = _SCHEME.match(directory)
    return found[1].lower() if found else None


def check_file_schema(schema: StructType) -> None:
    if schema.simpleString() != FILE_ROWS.simpleString():
        raise InvalidOption(
            "Option filesTo: the rows of the query are files: leave the schema out, or give "
            f"{FILE_ROWS.simpleString()}."
        )


def write_file(
    batches: Iterator[pa.RecordBatch], directory: str, wanted: TaskRange
) -> Iterator[pa.RecordBatch]:
    """Write the batches into one file; the result is one row that describes it."""
    files, folder = _open_directory(directory)
    is_local = isinstance(files, pafs.LocalFileSystem)
    name = file_name(wanted, "" if is_local else uuid4().hex)
    # A file system shows a file while it grows, an object store when it is complete.
    written = f"{folder}/.{name}.{uuid4().hex}" if is_local else f"{folder}/{name}"
    rows = _write(batches, files, written)
    size = files.get_file_info(written).size if rows else 0
    if rows and is_local:
        _publish(written, f"{folder}/{name}")
    partition = wanted.partition
    shown = f"{_shown_directory(directory, folder)}/{name}" if rows else None
    row = [shown, partition.topic, partition.partition, wanted.start, wanted.end, rows, size]
    yield pa.RecordBatch.from_arrays(
        [pa.array([value], field.type) for value, field in zip(row, _ARROW, strict=True)],
        schema=_ARROW,
    )


def file_name(wanted: TaskRange, attempt: str = "") -> str:
    partition = wanted.partition
    topic_id = uuid_to_text(wanted.topic_id) if wanted.topic_id else ""
    parts = [partition.topic, f"{partition.partition}", f"{wanted.start:020}", f"{wanted.end:020}"]
    return "-".join(filter(None, [*parts, topic_id, attempt])) + ".parquet"


def _open_directory(directory: str) -> tuple[pafs.FileSystem, str]:
    if scheme_of(directory) is None:
        files, folder = pafs.LocalFileSystem(), os.path.abspath(directory)
    else:
        files, folder = pafs.FileSystem.from_uri(directory)
    try:
        files.create_dir(folder, recursive=True)
    except OSError as error:
        raise SourceError(f"Option filesTo: {directory} cannot be created: {error}.") from error
    return files, folder.rstrip("/")


def _shown_directory(directory: str, folder: str) -> str:
    """The directory for other programs to open: with its scheme, without a password."""
    scheme = scheme_of(directory)
    if scheme is None or scheme == "file":
        return folder
    if scheme in BUCKETS:
        return f"{scheme}://{folder}"
    parts = urlsplit(directory)
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    shown_host = f"{name}@{host}" if name else host
    return urlunsplit((scheme, shown_host, parts.path.rstrip("/"), "", ""))


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
    """Sync the file before it gets its name: a stored row promises that the file exists."""
    with open(written, "rb") as file:
        os.fsync(file.fileno())
    os.replace(written, path)
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
