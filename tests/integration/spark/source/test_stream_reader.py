"""The driver's side of a stream, without Spark: what Spark would call, in Spark's order.

Each case runs against Ottla and against Apache Kafka.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows
from tests.integration.spark.source.dataframes import (
    add_partitions,
    committed,
    delete,
    delete_before,
    options_of,
    produce_again,
    recreate,
    write_transaction,
)
from tests.support.transactions import wait_until_stable
from tests.support.waiting import wait_until

from ottla.config.options import InvalidOption
from ottla.spark.data_source import stream_reader
from ottla.spark.errors import DataLoss, SourceError
from ottla.spark.records.schema import full_schema
from ottla.testing import Kafka
from ottla.testing.records import Record

pytestmark = pytest.mark.xdist_group("apache-kafka")

ALL = ReadAllAvailable()
EARLIEST = {"startingOffsets": "earliest"}


_readers: list[Any] = []


@pytest.fixture(autouse=True)
def _stop_readers() -> Iterator[None]:
    yield
    while _readers:
        _readers.pop().stop()


def reader_of(kafka: Kafka, topic: str | None, **options: Any) -> Any:
    chosen = options_of(kafka, topic, {"fetchOffset.retryIntervalMs": 1, **options})
    _readers.append(stream_reader(chosen, full_schema(with_headers=False)))
    return _readers[-1]


def stored(offsets: dict[str, Any]) -> dict[str, Any]:
    """Through the checkpoint."""
    loaded: dict[str, Any] = json.loads(json.dumps(offsets))
    return loaded


def begin(reader: Any) -> dict[str, Any]:
    """The end of the first batch."""
    return stored(reader.latestOffset(stored(reader.initialOffset()), ALL))


def next_batch(
    reader: Any, start: dict[str, Any], limit: Any = ALL
) -> tuple[dict[str, Any], list[Any]]:
    """The end of the next batch, and its values."""
    end = stored(reader.latestOffset(stored(start), limit))
    return end, values_of(reader, start, end)


def values_of(reader: Any, start: dict[str, Any], end: dict[str, Any]) -> list[Any]:
    tables = [
        table
        for partition in reader.partitions(stored(start), stored(end))
        for table in reader.read(partition)
    ]
    return pa.Table.from_batches(tables).column("value").to_pylist() if tables else []


def group_of(end: dict[str, Any], topic: str, prefix: str = "spark-ottla") -> str:
    """The default one of the query that planned this end."""
    return f"{prefix}-{topic}-{end['$ottla']['query']}"


def plain(offsets: dict[str, Any]) -> dict[str, Any]:
    return {topic: each for topic, each in offsets.items() if topic != "$ottla"}


def test_batches_follow_each_other_without_gap_or_repetition(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a", "b"])
    reader = reader_of(either_kafka, topic, **EARLIEST)
    start = reader.initialOffset()
    assert plain(start) == {topic: {"0": 0}}
    first, values = next_batch(reader, start)
    assert values == [b"a", b"b"]
    either_kafka.produce(topic, ["c"])
    second, values = next_batch(reader, first)
    assert values == [b"c"]
    assert reader.latestOffset(second, ALL) == second, "nothing new is no new offset"
    assert reader.partitions(second, second) == []
    reader.stop()


def test_latest_stays_what_it_was_when_the_first_batch_is_planned_again(
    either_kafka: Kafka,
) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["before"])
    reader = reader_of(either_kafka, topic)
    start = reader.initialOffset()
    either_kafka.produce(topic, ["during"])
    assert reader.initialOffset() == start, "Spark asks twice"
    end = stored(reader.latestOffset(start, ALL))
    either_kafka.produce(topic, ["after"])

    restarted = reader_of(either_kafka, topic)
    other_start = restarted.initialOffset()
    assert plain(other_start) == {topic: {"0": 3}}
    assert values_of(restarted, other_start, end) == [b"during"]
    assert next_batch(restarted, end)[1] == [b"after"]


def test_the_first_batch_can_be_repeated_after_partitions_came_that_no_option_names(
    either_kafka: Kafka,
) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["skipped", "a"])
    named = {"startingOffsets": json.dumps({topic: {"0": 1}})}
    reader = reader_of(either_kafka, topic, **named)
    end, values = next_batch(reader, reader.initialOffset())
    assert values == [b"a"]
    add_partitions(either_kafka, topic, 2)
    produce_again(either_kafka, topic, [Record(b"new", partition=1)])

    restarted = reader_of(either_kafka, topic, **named)
    again = stored(restarted.initialOffset())
    assert values_of(restarted, again, end) == [b"a"]
    assert next_batch(restarted, end)[1] == [b"new"]
    with pytest.raises(InvalidOption, match=f"must name exactly .*{topic}-1 missing"):
        restarted.latestOffset(again, ALL)  # as a query that was not planned before
    with pytest.raises(InvalidOption, match="must name exactly"):
        restarted.partitions(again, {topic: {"0": 2}})  # of a format that notes no beginning


def test_a_limit_is_shared_and_ends_at_what_was_there(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t", partitions=2)
    either_kafka.produce(topic, [Record(b"%d" % n, partition=n % 2) for n in range(25)])
    reader = reader_of(either_kafka, topic, maxOffsetsPerTrigger=10, **EARLIEST)
    assert reader.getDefaultReadLimit() == ReadMaxRows(10)
    reader.prepareForTriggerAvailableNow()
    either_kafka.produce(topic, ["late"])
    offset, sizes, values = reader.initialOffset(), [], list[bytes]()
    while True:
        end, found = next_batch(reader, offset, reader.getDefaultReadLimit())
        if end == offset:
            break
        offset = end
        sizes.append(len(found))
        values += found
    assert sizes == [10, 10, 5]
    assert sorted(values, key=int) == [b"%d" % n for n in range(25)]
    assert reader.latestOffset(offset, ALL) == offset, "the target holds, whatever the limit"


def test_read_all_available_overrules_the_limit(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a", "b", "c"])
    reader = reader_of(either_kafka, topic, maxOffsetsPerTrigger=1, **EARLIEST)
    assert len(next_batch(reader, reader.initialOffset(), ALL)[1]) == 3


def test_too_little_waits_but_not_in_the_first_batch_and_not_forever(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a"])
    options = {"minOffsetsPerTrigger": 2, "maxTriggerDelay": "1h", **EARLIEST}
    reader = reader_of(either_kafka, topic, **options)
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMinRows(2)
    first, values = next_batch(reader, reader.initialOffset(), limit)
    assert values == [b"a"]
    either_kafka.produce(topic, ["b"])
    assert next_batch(reader, first, limit) == (first, [])
    either_kafka.produce(topic, ["c"])
    assert next_batch(reader, first, limit)[1] == [b"b", b"c"]
    impatient = reader_of(either_kafka, topic, **{**options, "maxTriggerDelay": "0s"})
    assert next_batch(impatient, first, limit)[1] == [b"b", b"c"]


def test_available_now_is_not_held_back(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    reader = reader_of(either_kafka, topic, minOffsetsPerTrigger=100, **EARLIEST)
    reader.prepareForTriggerAvailableNow()
    first, _ = next_batch(reader, reader.initialOffset(), reader.getDefaultReadLimit())
    either_kafka.produce(topic, ["a"])
    later = reader_of(either_kafka, topic, minOffsetsPerTrigger=100, **EARLIEST)
    later.prepareForTriggerAvailableNow()
    assert next_batch(later, first, later.getDefaultReadLimit())[1] == [b"a"]


def test_new_partitions_are_read_from_their_beginning(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    reader = reader_of(either_kafka, topic)
    offset, _ = next_batch(reader, reader.initialOffset())
    add_partitions(either_kafka, topic, 2)
    produce_again(either_kafka, topic, [Record(b"new", partition=1)])
    assert next_batch(reader, offset)[1] == [b"new"]


def test_a_partition_that_comes_while_available_now_runs_waits_for_the_next_run(
    either_kafka: Kafka,
) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, [Record(b"old", partition=0)])
    reader = reader_of(either_kafka, topic, **EARLIEST)
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    add_partitions(either_kafka, topic, 2)
    produce_again(either_kafka, topic, [Record(b"new", partition=1)])
    end, values = next_batch(reader, start)
    assert values == [b"old"]
    assert reader.latestOffset(end, ALL) == end
    later = reader_of(either_kafka, topic, **EARLIEST)
    later.prepareForTriggerAvailableNow()
    assert next_batch(later, end)[1] == [b"new"]


def test_topics_that_come_to_match_a_pattern_are_read_from_their_beginning(
    either_kafka: Kafka,
) -> None:
    reader = reader_of(either_kafka, None, subscribePattern=either_kafka.name("match"))
    start = reader.initialOffset()
    assert start == {}
    empty, _ = next_batch(reader, start)
    either_kafka.produce(either_kafka.topic("match-later"), ["a"])
    either_kafka.produce(either_kafka.topic("other"), ["b"])
    assert next_batch(reader, empty)[1] == [b"a"]


def test_a_topic_made_again_is_noticed_even_with_more_records(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["old"])
    reader = reader_of(either_kafka, topic, **EARLIEST)
    offset, _ = next_batch(reader, reader.initialOffset())
    recreate(either_kafka, topic)
    produce_again(either_kafka, topic, ["new 1", "new 2"])
    with pytest.raises(DataLoss, match=f"{topic}-0: the topic was deleted and created again"):
        reader.latestOffset(offset, ALL)
    lenient = reader_of(either_kafka, topic, failOnDataLoss=False, **EARLIEST)
    end, values = next_batch(lenient, offset)
    assert values == [b"new 1", b"new 2"]
    assert lenient.latestOffset(end, ALL) == end
    assert committed(either_kafka, group_of(end, topic), topic, 1) == [2]


def test_a_batch_of_a_topic_that_was_made_again_cannot_be_repeated(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["old"])
    reader = reader_of(either_kafka, topic, **EARLIEST)
    start = reader.initialOffset()
    end = reader.latestOffset(start, ALL)
    recreate(either_kafka, topic)
    produce_again(either_kafka, topic, ["new"])
    again = reader_of(either_kafka, topic, **EARLIEST)
    with pytest.raises(DataLoss, match=f"topic {topic}, partition 0, offset 0"):
        values_of(again, start, end)
    lenient = reader_of(either_kafka, topic, failOnDataLoss=False, **EARLIEST)
    assert values_of(lenient, start, end) == []


def test_a_topic_deleted_while_the_query_runs_is_a_loss(either_kafka: Kafka) -> None:
    gone, kept = either_kafka.topic("gone"), either_kafka.topic("kept")
    reader = reader_of(either_kafka, f"{gone},{kept}", **EARLIEST)
    offset, _ = next_batch(reader, reader.initialOffset())
    delete(either_kafka, gone)
    either_kafka.produce(kept, ["a"])
    with pytest.raises(DataLoss, match=f"{gone}-0: deleted"):
        reader.latestOffset(offset, ALL)
    lenient = reader_of(either_kafka, f"{gone},{kept}", failOnDataLoss=False)
    end, values = next_batch(lenient, offset)
    assert values == [b"a"]
    assert plain(end) == {kept: {"0": 1}}


@pytest.mark.parametrize("option", ["subscribe", "subscribePattern", "assign"])
def test_a_checkpoint_of_another_query_is_named_as_such(either_kafka: Kafka, option: str) -> None:
    first, other = either_kafka.topic("first"), either_kafka.topic("other")
    either_kafka.produce(other, ["a"])
    reader = reader_of(either_kafka, first, **EARLIEST)
    offset, _ = next_batch(reader, reader.initialOffset())
    named = json.dumps({other: [0]}) if option == "assign" else other
    with pytest.raises(DataLoss, match=f"checkpoint holds offsets of {first}-0, which") as caught:
        reader_of(either_kafka, None, **{option: named}).latestOffset(offset, ALL)
    assert f"({option}={other}" in str(caught.value)
    assert "deleted" not in str(caught.value)
    assert "a new checkpointLocation" in str(caught.value)
    lenient = reader_of(either_kafka, None, failOnDataLoss=False, **{option: named})
    assert next_batch(lenient, offset)[1] == [b"a"]


def test_what_retention_took_is_a_loss(
    either_kafka: Kafka, caplog: pytest.LogCaptureFixture
) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a", "b", "c"])
    reader = reader_of(either_kafka, topic, **EARLIEST)
    start = reader.initialOffset()
    end = reader.latestOffset(start, ALL)
    delete_before(either_kafka, topic, {0: 2})
    with pytest.raises(DataLoss, match=r"offset 0: .* offsets 2 up to 3"):
        values_of(reader, start, end)
    lenient = reader_of(either_kafka, topic, failOnDataLoss=False, **EARLIEST)
    with caplog.at_level(logging.WARNING):
        assert values_of(lenient, start, end) == [b"c"]
    assert f"topic {topic}, partition 0, offset 0" in caplog.text


def test_a_log_that_became_shorter_is_a_loss(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a"])
    reader = reader_of(either_kafka, topic, **{"fetchOffset.numRetries": 1})
    start = {topic: {"0": 5}}
    with pytest.raises(DataLoss, match=f"{topic}-0 from 5 to 1"):
        reader.latestOffset(start, ALL)
    lenient = reader_of(either_kafka, topic, failOnDataLoss=False)
    end, values = next_batch(lenient, start)
    assert values == []
    either_kafka.produce(topic, ["b"])
    assert next_batch(lenient, end)[1] == [b"b"]


def test_transactions_are_read_once_decided(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    write_transaction(either_kafka, topic, [b"aborted"], commit=False)
    write_transaction(either_kafka, topic, [b"committed"], commit=True)
    open_one = write_transaction(either_kafka, topic, [b"open"], commit=None)
    either_kafka.produce(topic, ["behind"])
    options = {"kafka.isolation.level": "read_committed", **EARLIEST}
    reader = reader_of(either_kafka, topic, **options)
    end, values = next_batch(reader, reader.initialOffset())
    assert values == [b"committed"]
    assert reader.latestOffset(end, ALL) == end
    open_one.abort_transaction(120)
    wait_until_stable(either_kafka.bootstrap_servers, topic)
    end, values = next_batch(reader, end)
    assert values == [b"behind"]


def test_a_stream_that_becomes_read_committed_waits_behind_an_open_transaction(
    either_kafka: Kafka,
) -> None:
    topic = either_kafka.topic("t")
    open_one = write_transaction(either_kafka, topic, [b"open"], commit=None)
    reader = reader_of(either_kafka, topic, **EARLIEST)
    reached, values = next_batch(reader, reader.initialOffset())
    assert values == [b"open"]
    committed_only = {"kafka.isolation.level": "read_committed"}
    stricter = reader_of(either_kafka, topic, **committed_only)
    assert next_batch(stricter, reached) == (reached, [])
    given = {"startingOffsets": json.dumps({topic: {"0": 1}}), **committed_only}
    assert plain(reader_of(either_kafka, topic, **given).initialOffset()) == {topic: {"0": 1}}
    open_one.commit_transaction(120)
    wait_until_stable(either_kafka.bootstrap_servers, topic)
    either_kafka.produce(topic, ["later"])
    assert next_batch(stricter, reached)[1] == [b"later"]


def test_a_gap_at_the_end_is_no_loss_and_no_standstill(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    write_transaction(either_kafka, topic, [b"a", b"b"], commit=False)
    options = {"kafka.isolation.level": "read_committed", "maxOffsetsPerTrigger": 1, **EARLIEST}
    reader = reader_of(either_kafka, topic, **options)
    reader.prepareForTriggerAvailableNow()
    offset, batches = reader.initialOffset(), 0
    while True:
        end, values = next_batch(reader, offset, reader.getDefaultReadLimit())
        assert values == []
        if end == offset:
            break
        offset, batches = end, batches + 1
    assert plain(offset) == {topic: {"0": 3}}
    assert batches == 3


def test_progress_is_seen_in_a_group_and_never_moves_back(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a", "b"])
    reader = reader_of(either_kafka, topic, **EARLIEST)
    start = reader.initialOffset()
    end, _ = next_batch(reader, start)
    reader.latestOffset(end, ALL)
    group = group_of(end, topic)
    assert committed(either_kafka, group, topic, 1) == [2]
    restarted = reader_of(either_kafka, topic, **EARLIEST)
    restarted.commit({**end, topic: {"0": 1}})
    assert committed(either_kafka, group, topic, 1) == [2]
    produce_again(either_kafka, topic, ["c"])
    end, _ = next_batch(restarted, end)
    assert group_of(end, topic) == group, "a restarted query keeps its group"
    named = reader_of(either_kafka, topic, **{"kafka.group.id": either_kafka.name("g"), **EARLIEST})
    named.commit(end)
    assert committed(either_kafka, either_kafka.name("g"), topic, 1) == [3]
    silent = reader_of(either_kafka, topic, commitOffsets=False, groupIdPrefix="silent")
    silent.commit(end)
    assert committed(either_kafka, group_of(end, topic, "silent"), topic, 1) == [-1001]


def test_two_queries_on_the_same_topic_show_their_progress_apart(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a", "b", "c"])
    groups = []
    for rows in (3, 1):
        reader = reader_of(either_kafka, topic, **EARLIEST)
        end = stored(reader.latestOffset(reader.initialOffset(), ReadMaxRows(rows)))
        reader.commit(end)
        groups.append(group_of(end, topic))
    assert [committed(either_kafka, each, topic, 1) for each in groups] == [[3], [1]]


def test_a_group_that_cannot_be_committed_to_is_a_warning(
    either_kafka: Kafka, caplog: pytest.LogCaptureFixture
) -> None:
    topic = either_kafka.topic("t")
    group = either_kafka.name("g")
    either_kafka.produce(topic, ["a"])
    member = either_kafka._clients.consumer({"group.id": group, "auto.offset.reset": "earliest"})
    member.subscribe([topic])
    wait_until(lambda: member.poll(1.0) is not None, "a member of the group")
    try:
        reader = reader_of(either_kafka, topic, **{"kafka.group.id": group, **EARLIEST})
        with caplog.at_level(logging.WARNING):
            end, values = next_batch(reader, reader.initialOffset())
            reader.latestOffset(end, ALL)
    finally:
        member.close()
    assert values == [b"a"]
    assert f"progress was not committed to group {group}" in caplog.text


def test_a_new_topic_that_is_gone_before_its_batch_is_repeated_is_a_loss(
    either_kafka: Kafka,
) -> None:
    pattern = either_kafka.name("match")
    reader = reader_of(either_kafka, None, subscribePattern=pattern)
    empty, _ = next_batch(reader, reader.initialOffset())
    topic = either_kafka.topic("match-short-lived")
    either_kafka.produce(topic, ["a"])
    end = reader.latestOffset(empty, ALL)
    delete(either_kafka, topic)
    with pytest.raises(DataLoss, match=f"{topic}-0: deleted before the batch could be read"):
        values_of(reader, empty, end)
    lenient = reader_of(either_kafka, None, subscribePattern=pattern, failOnDataLoss=False)
    assert values_of(lenient, empty, end) == []


def test_partitions_are_split_where_that_is_asked_for_and_stay_whole_otherwise(
    either_kafka: Kafka,
) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, [b"%d" % n for n in range(10)])
    for options, tasks in (
        ({}, 1),
        ({"minPartitions": 3}, 3),
        ({"maxRecordsPerPartition": 4}, 3),
    ):
        reader = reader_of(either_kafka, topic, **options, **EARLIEST)
        start = reader.initialOffset()
        end, values = next_batch(reader, start)
        assert len(reader.partitions(start, end)) == tasks
        assert values == [b"%d" % n for n in range(10)]


def test_the_ends_of_the_logs_are_reported(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a", "b", "c"])
    reader = reader_of(either_kafka, topic, maxOffsetsPerTrigger=1, **EARLIEST)
    assert reader.reportLatestOffset() is None
    reader.latestOffset(reader.initialOffset(), ReadMaxRows(1))
    assert reader.reportLatestOffset() == {topic: {"0": 3}}


def test_a_missing_topic_is_an_error_even_beside_one_that_is_there(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    with pytest.raises(SourceError, match="do not exist: no-such-topic"):
        begin(reader_of(either_kafka, f"{topic},no-such-topic"))
    with pytest.raises(SourceError, match=f"do not exist: {topic}-7"):
        begin(reader_of(either_kafka, None, assign=json.dumps({topic: [0, 7]})))


def test_offsets_that_the_log_does_not_have_are_refused(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a"])
    options = {"startingOffsets": json.dumps({topic: {"0": 9}})}
    with pytest.raises(DataLoss, match=f"startingOffsets: {topic}-0 has no offset 9"):
        begin(reader_of(either_kafka, topic, **options))
    lenient = reader_of(either_kafka, topic, failOnDataLoss=False, **options)
    assert plain(lenient.initialOffset()) == {topic: {"0": 1}}


def test_a_checkpoint_of_spark_s_own_format_continues(either_kafka: Kafka) -> None:
    topic = either_kafka.topic("t")
    either_kafka.produce(topic, ["a", "b"])
    assert next_batch(reader_of(either_kafka, topic), {topic: {"0": 1}})[1] == [b"b"]
