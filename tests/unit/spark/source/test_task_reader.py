"""A task's reading: bytes that are damaged, too large, or not wanted."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from ottla.base.ids import TopicPartition
from ottla.client.errors import LogTruncated, OffsetOutOfRange, TopicRecreated, UnknownTopic
from ottla.client.fetching.fetched_records import FetchedRecords
from ottla.client.fetching.fetcher import PartitionRange
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.record import Record
from ottla.spark.data_loss import LossPolicy
from ottla.spark.errors import DataLoss, SourceError, UnreadableRecords
from ottla.spark.options.consumer_options import parse_kafka_options
from ottla.spark.planning.pushed_filters import Bounds
from ottla.spark.planning.range_splitting import TaskRange
from ottla.spark.planning.read_tasks import ReadPlan, TaskRanges
from ottla.spark.records.schema import full_schema
from ottla.spark.source import task_reader
from ottla.spark.source.task_reader import TaskReader, read_task, settings_for

PLACE = TopicPartition("orders", 3)
SETTINGS = parse_kafka_options({"kafka.bootstrap.servers": "localhost:1"}).settings
MIB = 1024 * 1024


def plan(**changes: Any) -> ReadPlan:
    values: dict[str, Any] = {
        "settings": SETTINGS, "schema": full_schema(with_headers=False), "with_headers": False,
        "loss_policy": LossPolicy(), "batch_bytes_max": MIB, "bounds": Bounds(), **changes,
    }  # fmt: skip
    return ReadPlan(**values)


def batch(base_offset: int, *values: bytes, codec: Codec = Codec.NONE) -> bytes:
    records = [Record(base_offset + n, 0, None, value) for n, value in enumerate(values)]
    return bytes(build_batch(records, base_offset=base_offset, codec=codec))


def fetched(data: bytes, start: int, end: int) -> FetchedRecords:
    return FetchedRecords(PLACE, memoryview(data), start, end)


Answers = list[FetchedRecords | Exception]


def read(
    monkeypatch: pytest.MonkeyPatch, answers: Answers, start: int, end: int, **changes: Any
) -> list[Any]:
    """Read with a network that gives these answers, one list for all attempts."""

    def fetch_ranges(*_: Any) -> Iterator[FetchedRecords]:
        while answers:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            yield answer

    monkeypatch.setattr(task_reader, "fetch_ranges", fetch_ranges)
    planned = TaskRange(PLACE, start, end, end_epoch=3)
    reader: Any = TaskReader(plan(**changes), None, [planned])  # type: ignore[arg-type]
    tables = list(reader.read())
    return pa.Table.from_batches(tables).column("value").to_pylist() if tables else []


def test_a_range_ends_in_the_middle_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = fetched(batch(10, b"a", b"b", b"c", b"d"), 11, 13)
    assert read(monkeypatch, [answer], 11, 13) == [b"b", b"c"]


def test_a_damaged_batch_is_named_by_its_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = bytearray(batch(2, b"bad"))
    damaged[-2] ^= 1
    data = batch(0, b"a", b"b") + bytes(damaged) + batch(3, b"c")
    with pytest.raises(
        UnreadableRecords, match=r"topic orders, partition 3, offset 2: .*wrong checksum"
    ):
        read(monkeypatch, [fetched(data, 0, 4)], 0, 4)


def test_damage_that_the_checksum_does_not_see_is_named_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    damaged = bytearray(batch(2, b"bad"))
    damaged[61] = 0x7F  # the record's length
    data = batch(0, b"a", b"b") + bytes(damaged)
    unchecked = parse_kafka_options({
        "kafka.bootstrap.servers": "localhost:1", "kafka.check.crcs": "false",
    }).settings  # fmt: skip
    with pytest.raises(UnreadableRecords, match="offset 2"):
        read(monkeypatch, [fetched(data, 0, 3)], 0, 3, settings=unchecked)


def test_a_batch_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = batch(5, bytes(2 * MIB), codec=Codec.GZIP)
    assert len(bomb) < MIB // 10
    with pytest.raises(UnreadableRecords, match=r"offset 5: .*maxDecompressedBatchBytes"):
        read(monkeypatch, [fetched(bomb, 5, 6)], 5, 6)


def test_a_single_huge_record_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    huge = bytes(20 * MIB)
    data = batch(0, b"a") + batch(1, huge) + batch(2, b"b")
    assert read(monkeypatch, [fetched(data, 0, 3)], 0, 3) == [b"a", huge, b"b"]


def test_records_that_go_while_they_are_read_are_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers() -> Answers:
        gone = OffsetOutOfRange("orders", 3, 2, log_start=5, end=9)
        return [fetched(batch(0, b"a", b"b"), 0, 2), gone, fetched(batch(5, b"f", b"g"), 5, 7)]

    with pytest.raises(DataLoss, match=r"offset 2: .* offsets 5 up to 9"):
        read(monkeypatch, answers(), 0, 7)
    lenient = read(monkeypatch, answers(), 0, 7, loss_policy=LossPolicy(is_strict=False))
    assert lenient == [b"a", b"b", b"f", b"g"]


def test_offsets_beyond_the_end_leave_nothing_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    beyond: Answers = [OffsetOutOfRange("orders", 3, 8, log_start=0, end=5)]
    assert read(monkeypatch, beyond, 8, 9, loss_policy=LossPolicy(is_strict=False)) == []


def truncated(replaced_from: int) -> Answers:
    """After the first two records, the log has others from an offset on, and ends at 5."""
    lost = LogTruncated("orders", 3, 9, 3, replaced_from)
    return [fetched(batch(0, b"a", b"b"), 0, 2), lost]


def test_records_that_a_new_leader_does_not_have_are_a_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reported = r"partition 3, offset 2: .*records from 4 up to 9 .*unclean.leader.election"
    with pytest.raises(DataLoss, match=reported):
        read(monkeypatch, truncated(4), 0, 9)


def test_a_stream_ends_its_batch_where_the_log_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its next batch begins there."""
    lenient = LossPolicy(is_strict=False, is_stream=True)
    answers = [*truncated(4), fetched(batch(2, b"c", b"d"), 2, 4)]
    assert read(monkeypatch, answers, 0, 9, loss_policy=lenient) == [b"a", b"b", b"c", b"d"]
    assert read(monkeypatch, truncated(1), 0, 9, loss_policy=lenient) == [b"a", b"b"]


def test_a_batch_reads_on_with_what_the_log_has_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_reader, "latest_offsets", lambda *_: {PLACE: 5})
    lenient = LossPolicy(is_strict=False)
    answers = [*truncated(1), fetched(batch(1, b"x", b"y", b"z", b"!"), 1, 5)]
    rows = read(monkeypatch, answers, 0, 9, loss_policy=lenient)
    assert rows == [b"a", b"b", b"x", b"y", b"z", b"!"]


def test_a_recreated_topic_is_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    def answers() -> Answers:
        return [TopicRecreated("orders", bytes(16), bytes(16))]

    with pytest.raises(DataLoss, match="topic orders, partition 3, offset 0"):
        read(monkeypatch, answers(), 0, 1)
    assert read(monkeypatch, answers(), 0, 1, loss_policy=LossPolicy(is_strict=False)) == []


def test_a_partition_of_spark_s_own_making_reads_nothing() -> None:
    from pyspark.sql.datasource import InputPartition

    assert list(read_task(plan(), InputPartition(None))) == []


def test_plans_ranges_and_errors_travel() -> None:
    assert pickle.loads(pickle.dumps(plan())) == plan()
    travelled = pickle.loads(pickle.dumps(TaskRanges([TaskRange(PLACE, 1, 2)])))
    assert travelled.ranges == (TaskRange(PLACE, 1, 2),)
    error = pickle.loads(pickle.dumps(DataLoss("gone.")))
    assert isinstance(error, SourceError)
    assert str(error) == str(DataLoss("gone."))


def test_a_loss_in_one_partition_leaves_the_others_to_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three partitions in one task: each attempt asks for what is left, from where it is."""
    places = [TopicPartition("orders", 3), TopicPartition("orders", 4), TopicPartition("gone", 0)]
    asked: list[dict[TopicPartition, tuple[int, int | None]]] = []

    def fetch_ranges(_: object, ranges: list[PartitionRange]) -> Iterator[FetchedRecords]:
        asked.append({each.partition: (each.start_offset, each.end_offset) for each in ranges})
        if len(asked) == 1:
            yield fetched(batch(0, b"a"), 0, 1)
            raise OffsetOutOfRange("orders", 4, 0, log_start=7, end=9)
        if len(asked) == 2:
            raise UnknownTopic("gone")
        yield FetchedRecords(places[1], memoryview(batch(7, b"x")), 7, 8)
        yield fetched(batch(1, b"b"), 1, 2)

    monkeypatch.setattr(task_reader, "fetch_ranges", fetch_ranges)
    ranges = [TaskRange(place, 0, end) for place, end in zip(places, (2, 8, 5), strict=True)]
    lenient: Any = TaskReader(plan(loss_policy=LossPolicy(is_strict=False)), None, ranges)  # type: ignore[arg-type]
    rows = pa.Table.from_batches(list(lenient.read())).to_pylist()
    assert [(row["partition"], row["value"]) for row in rows] == [(3, b"a"), (4, b"x"), (3, b"b")]
    assert asked[1] == {places[0]: (1, 2), places[1]: (7, 8), places[2]: (0, 5)}
    assert asked[2] == {places[0]: (1, 2), places[1]: (7, 8)}


def test_answers_of_several_brokers_are_smaller() -> None:
    assert settings_for(SETTINGS, 1) == SETTINGS
    assert settings_for(SETTINGS, 4).fetch_max_bytes == SETTINGS.fetch_max_bytes // 4
    small = replace(SETTINGS, fetch_max_bytes=1000)
    assert settings_for(small, 60) == small
