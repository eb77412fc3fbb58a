"""Files that tasks write: their names, and that attempts do not harm each other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from ottla.base.ids import TopicPartition
from ottla.config.options import InvalidOption
from ottla.spark.errors import SourceError
from ottla.spark.planning.range_splitting import TaskRange
from ottla.spark.source import parquet_files
from ottla.spark.source.parquet_files import check_directory, file_name, write_file

WANTED = TaskRange(TopicPartition("orders", 3), 10, 20, b"\1" * 16)


def batches(*values: int) -> Iterator[pa.RecordBatch]:
    for value in values:
        yield pa.RecordBatch.from_pydict({"offset": pa.array([value], pa.int64())})


def failing() -> Iterator[pa.RecordBatch]:
    yield from batches(1)
    raise ConnectionError("the task ends here")


def written(reported: Iterator[pa.RecordBatch]) -> dict[str, Any]:
    (batch,) = reported
    row: dict[str, Any] = batch.to_pylist()[0]
    return row


def test_a_task_that_runs_again_replaces_its_own_file(tmp_path: Path) -> None:
    first = written(write_file(batches(1, 2), str(tmp_path), WANTED))
    again = written(write_file(batches(1, 2), str(tmp_path), WANTED))
    assert first == again
    assert [str(path) for path in tmp_path.iterdir()] == [first["path"]]
    assert pq.read_table(first["path"]).num_rows == first["rows"] == 2


def test_a_topic_that_was_made_again_does_not_replace_the_files_of_the_old_one() -> None:
    recreated = TaskRange(WANTED.partition, WANTED.start, WANTED.end, b"\2" * 16)
    assert file_name(WANTED) != file_name(recreated)


def test_a_failed_task_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError):
        written(write_file(failing(), str(tmp_path), WANTED))
    assert list(tmp_path.iterdir()) == []


def test_an_empty_directory_is_refused() -> None:
    with pytest.raises(InvalidOption, match="filesTo is empty"):
        check_directory(" ")


def test_a_directory_that_cannot_be_created_is_named_with_the_option(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    directory = f"{tmp_path}/file/lake"
    with pytest.raises(SourceError, match=f"Option filesTo: {directory} cannot be created"):
        written(write_file(batches(1), directory, WANTED))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that looks like an object store: nothing can be renamed into place there."""
    files = pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem())
    (tmp_path / "bucket").mkdir()
    monkeypatch.setattr(parquet_files, "_open_directory", lambda _: (files, "bucket/lake"))
    (tmp_path / "bucket/lake").mkdir()
    return tmp_path / "bucket/lake"


def test_an_attempt_that_fails_does_not_take_the_file_of_another_with_it(store: Path) -> None:
    row = written(write_file(batches(1, 2), "s3://bucket/lake", WANTED))
    with pytest.raises(ConnectionError):
        written(write_file(failing(), "s3://bucket/lake", WANTED))
    (left,) = store.iterdir()
    assert row["path"] == f"s3://bucket/lake/{left.name}"
    assert pq.read_table(left).num_rows == 2


@pytest.mark.parametrize(
    ("directory", "shown"),
    [
        ("s3://key:secret@bucket/lake?region=eu-west-1", "s3://bucket/lake/"),
        ("abfss://lake:secret@account.dfs.example/a/", "abfss://lake@account.dfs.example/a/"),
        ("hdfs://host:9000/lake?user=me", "hdfs://host:9000/lake/"),
    ],
)
@pytest.mark.usefixtures("store")
def test_rows_name_files_as_others_can_open_them_without_secrets(
    directory: str, shown: str
) -> None:
    path = written(write_file(batches(1), directory, WANTED))["path"]
    assert path.startswith(shown)


@pytest.mark.parametrize("directory", ["s3a://bucket/lake", "dbfs:/lake", "wasbs://a@b/c"])
def test_a_url_that_pyarrow_does_not_know_is_refused_and_not_taken_for_a_directory(
    directory: str,
) -> None:
    with pytest.raises(InvalidOption, match="Option filesTo"):
        check_directory(directory)


@pytest.mark.parametrize("directory", ["/lake", "lake/orders", "file:///lake", "s3://b/lake"])
def test_directories_and_urls_supported_by_pyarrow_are_accepted(directory: str) -> None:
    check_directory(directory)
