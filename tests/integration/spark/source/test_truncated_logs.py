"""Streams and batches over an unclean election, without Spark: what Spark would call.

Two topics lose ten records that were read, or planned to be read. Afterwards the log of one of them
is longer than before, which only leader epochs show, that of the other is shorter.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from tests.integration.client.helpers import read_with_librdkafka
from tests.integration.client.three_brokers import UNCLEAN, ThreeBrokers

from ottla.base.ids import TopicPartition
from ottla.client.admin.group_offsets import committed_offsets
from ottla.spark.data_source import batch_reader, stream_reader
from ottla.spark.errors import DataLoss
from ottla.spark.records.schema import full_schema

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("three-brokers")]

KEPT = [b"kept %d" % number for number in range(10)]
LOST = [b"lost %d" % number for number in range(10)]
MORE = [b"more %d" % number for number in range(15)]
FEWER = MORE[:4]
ALL = ReadAllAvailable()
SCHEMA = full_schema(with_headers=False)
Offsets = dict[str, Any]


def options_of(three: ThreeBrokers, topic: str, *, is_strict: bool) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": three.bootstrap_servers,
        "kafka.group.id": f"group-{topic}-{is_strict}",
        "subscribe": topic,
        "startingOffsets": "earliest",
        "failOnDataLoss": str(is_strict),
        "fetchOffset.retryIntervalMs": "1",
    }


@contextmanager
def streaming(three: ThreeBrokers, topic: str, *, is_strict: bool) -> Iterator[Any]:
    reader = stream_reader(options_of(three, topic, is_strict=is_strict), SCHEMA)
    try:
        yield reader
    finally:
        reader.stop()


def stored(offsets: Offsets) -> Offsets:
    """Through the checkpoint."""
    loaded: Offsets = json.loads(json.dumps(offsets))
    return loaded


def values_of(reader: Any, tasks: Any) -> list[bytes]:
    tables = [table for task in tasks for table in reader.read(task)]
    return pa.Table.from_batches(tables).column("value").to_pylist() if tables else []


def next_batch(reader: Any, start: Offsets, limit: Any = ALL) -> tuple[Offsets, list[bytes]]:
    end = stored(reader.latestOffset(stored(start), limit))
    return end, values_of(reader, reader.partitions(stored(start), end))


@dataclass
class Event:
    """What was planned and read before the election; by topic."""

    three: ThreeBrokers
    longer: str
    shorter: str
    begin: dict[str, Offsets] = field(default_factory=dict)
    read: dict[str, Offsets] = field(default_factory=dict)  # the end of a batch that was read
    batch_tasks: dict[bool, Any] = field(default_factory=dict)  # planned, by failOnDataLoss


@pytest.fixture(scope="module")
def event(three: ThreeBrokers) -> Event:
    three.start_all()
    longer, shorter = (three.topic([[2, 3]], **UNCLEAN) for _ in range(2))
    event = Event(three, longer, shorter)
    topics = (event.longer, event.shorter)
    for topic in topics:
        three.produce(topic, KEPT)
    instead = {event.longer: MORE, event.shorter: FEWER}
    for _ in three.lose_records(dict.fromkeys(topics, LOST), instead):
        for topic in topics:
            with streaming(three, topic, is_strict=True) as reader:
                event.begin[topic] = stored(reader.initialOffset())
                event.read[topic], values = next_batch(reader, event.begin[topic])
                assert values == KEPT + LOST
        for is_strict in (True, False):
            options = options_of(three, event.longer, is_strict=is_strict)
            del options["kafka.group.id"]
            planner = batch_reader(options, SCHEMA)
            event.batch_tasks[is_strict] = (planner, planner.partitions())
    for topic in topics:
        stored_now = read_with_librdkafka(three.bootstrap_servers, TopicPartition(topic, 0))
        assert [value for _, value in stored_now] == KEPT + instead[topic]
    return event


def test_the_checkpoint_has_the_leader_epochs(event: Event) -> None:
    kept = event.read[event.longer]
    assert kept["$ottla"]["leaderEpochs"] == {event.longer: {"0": 0}}
    assert kept[event.longer] == {"0": 20}, "in the form of Spark's own source"


@pytest.mark.parametrize("topic", ["longer", "shorter"])
def test_a_stream_that_read_lost_records_stops_with_their_offsets(event: Event, topic: str) -> None:
    name = getattr(event, topic)
    reported = rf"{name}-0: the records from offset 10 up to 20, of leader epoch 0"
    with streaming(event.three, name, is_strict=True) as reader:
        for _ in range(2):
            with pytest.raises(DataLoss, match=reported):
                reader.latestOffset(event.read[name], ALL)


@pytest.mark.parametrize("topic", ["longer", "shorter"])
def test_a_stream_that_may_lose_records_continues_where_the_log_differs(
    event: Event, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What was written instead is read once, in batches of any size, and repeated batches are the
    same."""
    name, instead = getattr(event, topic), {"longer": MORE, "shorter": FEWER}[topic]
    with streaming(event.three, name, is_strict=False) as reader:
        with caplog.at_level(logging.WARNING):
            end, first = next_batch(reader, event.read[name], ReadMaxRows(3))
        assert f"{name}-0: the records from offset 10 up to 20" in caplog.text
        assert first == instead[:3]
        assert values_of(reader, reader.partitions(event.read[name], end)) == first
        end, rest = next_batch(reader, end)
        assert first + rest == instead
        assert reader.latestOffset(end, ALL) == end, "the log has nothing else"
    place = TopicPartition(name, 0)
    with event.three.client() as client:
        committed = committed_offsets(client, f"group-{name}-False", [place])
    assert committed[place].offset == len(KEPT) + len(instead), "as far as the stream is now"


def test_a_batch_that_was_planned_before_reads_nothing_else_instead(event: Event) -> None:
    """Spark repeats a batch after a restart: with the same rows, or with an error."""
    name = event.longer
    begin, end = event.begin[name], event.read[name]
    with streaming(event.three, name, is_strict=True) as reader:
        tasks = reader.partitions(begin, end)
        with pytest.raises(DataLoss, match=rf"{name}, partition 0, .*records from 10 up to 20"):
            values_of(reader, tasks)
    with streaming(event.three, name, is_strict=False) as reader:
        assert values_of(reader, reader.partitions(begin, end)) == KEPT
        _, values = next_batch(reader, end)
        assert values == MORE


def test_a_batch_query_planned_before_fails_or_reads_what_is_there(event: Event) -> None:
    strict, tasks = event.batch_tasks[True]
    with pytest.raises(DataLoss, match="records from 10 up to 20"):
        values_of(strict, tasks)
    lenient, tasks = event.batch_tasks[False]
    assert values_of(lenient, tasks) == (KEPT + MORE)[:20]


def test_a_checkpoint_of_spark_s_own_source_has_no_epochs_and_is_continued(event: Event) -> None:
    name = event.longer
    with streaming(event.three, name, is_strict=True) as reader:
        _, values = next_batch(reader, {name: {"0": 20}})
        assert values == (KEPT + MORE)[20:]
