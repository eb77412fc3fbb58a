"""`spark.read.format("ottla")` in a real session, compared with what confluent-kafka reads."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.integration.spark.source.dataframes import (
    delete_before,
    expected_rows,
    options_of,
    read,
    rows_of,
    write_transaction,
)

from ottla.config.options import InvalidOption
from ottla.spark.data_source import batch_reader
from ottla.spark.records.schema import full_schema
from ottla.testing import Kafka
from ottla.testing.records import Record

pytestmark = pytest.mark.xdist_group("spark")

KEPT = {"retention.ms": "-1"}  # brokers look every few minutes for records as old as some here

PUSH_DOWN = "spark.sql.python.filterPushdown.enabled"


def failure_of(frame: Any) -> str:
    with pytest.raises(Exception) as caught:  # Spark's own types, by Java class
        frame().collect()
    return str(caught.value)


def test_every_column_is_what_another_client_reads(spark: Any, each_kafka: Kafka) -> None:
    topic = each_kafka.topic("t", partitions=3, config=KEPT)
    rows = [
        Record(b"value %d" % n, b"key %d" % n, partition=n % 3, timestamp_ms=1_700_000_000_000 + n)
        for n in range(50)
    ]
    rows += [Record(None, b"tombstone", partition=0), Record(b"", None, partition=1)]
    each_kafka.produce(topic, rows)
    frame = read(spark, each_kafka, topic)
    assert frame.columns == [
        "key", "value", "topic", "partition", "offset", "timestamp", "timestampType",
    ]  # fmt: skip
    assert rows_of(frame) == expected_rows(each_kafka, topic)


def test_headers_are_a_column_that_is_null_where_there_are_none(
    spark: Any, each_kafka: Kafka
) -> None:
    topic = each_kafka.topic("t")
    headers = (("a", b"1"), ("a", None), ("", b""))
    each_kafka.produce(topic, [Record(b"x", headers=headers), b"y"])
    frame = read(spark, each_kafka, topic, includeHeaders=True).orderBy("offset")
    found = [row.headers for row in frame.collect()]
    assert found[1] is None
    assert [(each.key, None if each.value is None else bytes(each.value)) for each in found[0]] == [
        ("a", b"1"), ("a", None), ("", b""),
    ]  # fmt: skip


def test_some_columns_in_another_order_are_honoured(spark: Any, each_kafka: Kafka) -> None:
    topic = each_kafka.topic("t")
    each_kafka.produce(topic, [("k", "v")])
    frame = read(spark, each_kafka, topic, "offset bigint, value binary, topic string")
    assert [tuple(row) for row in frame.collect()] == [(0, b"v", topic)]


def test_times_given_by_the_broker_are_of_another_type(spark: Any, each_kafka: Kafka) -> None:
    topic = each_kafka.topic("t", config={"message.timestamp.type": "LogAppendTime"})
    each_kafka.produce(topic, ["a", "b"])
    found = rows_of(read(spark, each_kafka, topic))
    assert found == expected_rows(each_kafka, topic)
    assert [row[6] for row in found] == [1, 1]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches_are_read(spark: Any, kafka: Kafka, codec: str) -> None:
    topic = kafka.topic("t", config={"compression.type": codec})
    kafka.produce(topic, [b"value %d" % n for n in range(1000)])
    assert rows_of(read(spark, kafka, topic)) == expected_rows(kafka, topic)


def test_topics_by_list_pattern_and_partition(spark: Any, each_kafka: Kafka) -> None:
    one = each_kafka.topic("topic-one", partitions=2)
    two = each_kafka.topic("topic-two")
    each_kafka.produce(one, [Record(b"1", partition=0), Record(b"2", partition=1)])
    each_kafka.produce(two, ["3"])
    both = expected_rows(each_kafka, one, two)
    assert rows_of(read(spark, each_kafka, f"{one}, {two}")) == both
    pattern = f"{each_kafka.prefix}topic-(one|two)"
    assert rows_of(read(spark, each_kafka, None, subscribePattern=pattern)) == both
    assert read(spark, each_kafka, None, subscribePattern="no-such-").count() == 0
    assigned = read(spark, each_kafka, None, assign=json.dumps({one: [1], two: [0]}))
    assert rows_of(assigned) == [row for row in both if row[3] == 1 or row[2] == two]


def test_ranges_by_offset_and_by_time(spark: Any, each_kafka: Kafka) -> None:
    topic = each_kafka.topic("t", partitions=2, config=KEPT)
    times = [1000, 2000, 3000, 4000]
    each_kafka.produce(
        topic,
        [Record(b"%d" % time, partition=p, timestamp_ms=time) for p in (0, 1) for time in times],
    )

    def offsets(**options: Any) -> list[tuple[int, int]]:
        return [row[3:5] for row in rows_of(read(spark, each_kafka, topic, **options))]

    bounds = {
        "startingOffsets": json.dumps({topic: {"0": 2, "1": -2}}),
        "endingOffsets": json.dumps({topic: {"0": -1, "1": 1}}),
    }
    assert offsets(**bounds) == [(0, 2), (0, 3), (1, 0)]
    assert offsets(startingTimestamp=2500, endingTimestamp=4000) == [(0, 2), (1, 2)]
    by_time = {
        "startingOffsetsByTimestamp": json.dumps({topic: {"0": 4000, "1": 3000}}),
        "endingOffsetsByTimestamp": json.dumps({topic: {"0": 9000, "1": 4000}}),
    }
    assert offsets(**by_time) == [(0, 3), (1, 2)]
    late = {"startingTimestamp": 9000, "startingOffsetsByTimestampStrategy": "latest"}
    assert offsets(**late) == []
    reported = failure_of(lambda: read(spark, each_kafka, topic, startingTimestamp=9000))
    assert f"{topic}-0, {topic}-1" in reported
    assert "startingOffsetsByTimestampStrategy" in reported


def test_tasks_split_partitions_if_requested(spark: Any, kafka: Kafka) -> None:
    topic = kafka.topic("t", partitions=2)
    kafka.produce(topic, [Record(b"%d" % n, partition=n % 2) for n in range(100)])
    expected = expected_rows(kafka, topic)
    for options, tasks in (
        ({}, 2),
        ({"preserveOrder": True}, 2),
        ({"minPartitions": 5}, 5),
        ({"maxRecordsPerPartition": 20}, 6),
    ):
        frame = read(spark, kafka, topic, **options)
        assert frame.rdd.getNumPartitions() == tasks
        assert rows_of(frame) == expected


def test_transactions_are_read_as_the_isolation_level_says(spark: Any, each_kafka: Kafka) -> None:
    topic = each_kafka.topic("t")
    each_kafka.produce(topic, ["plain"])
    write_transaction(each_kafka, topic, [b"aborted 1", b"aborted 2"], commit=False)
    write_transaction(each_kafka, topic, [b"committed 1", b"committed 2"], commit=True)
    each_kafka.produce(topic, ["between"])
    still_open = write_transaction(each_kafka, topic, [b"open"], commit=None)
    each_kafka.produce(topic, ["behind"])
    for isolation in ("read_uncommitted", "read_committed"):
        frame = read(spark, each_kafka, topic, **{"kafka.isolation.level": isolation})
        expected = expected_rows(each_kafka, topic, isolation=isolation)
        assert rows_of(frame) == expected
    assert [row[1] for row in expected] == [b"plain", b"committed 1", b"committed 2", b"between"]
    still_open.abort_transaction(30)


def test_an_empty_topic_has_no_rows(spark: Any, each_kafka: Kafka) -> None:
    topic = each_kafka.topic("t", partitions=2)
    assert read(spark, each_kafka, topic).count() == 0


def test_what_retention_took_before_the_query_is_no_loss(spark: Any, each_kafka: Kafka) -> None:
    topic = each_kafka.topic("t")
    each_kafka.produce(topic, ["a", "b", "c"])
    delete_before(each_kafka, topic, {0: 2})
    assert [row[1] for row in rows_of(read(spark, each_kafka, topic))] == [b"c"]
    start = json.dumps({topic: {"0": 0}})
    reported = failure_of(lambda: read(spark, each_kafka, topic, startingOffsets=start))
    assert f"{topic}-0 has no offset 0, its log reaches from 2 to 3" in reported
    lenient = read(spark, each_kafka, topic, startingOffsets=start, failOnDataLoss=False)
    assert lenient.count() == 1


def test_filters_narrow_what_is_read_where_session_and_query_allow_it(
    spark: Any, each_kafka: Kafka
) -> None:
    topic = each_kafka.topic("t", partitions=3, config=KEPT)
    # Times that do not grow: the youngest record is followed by older ones.
    times = [1000, 9000, 2000, 3000]
    rows = [Record(b"x", partition=p, timestamp_ms=time) for p in range(3) for time in times]
    each_kafka.produce(topic, rows)
    expected = expected_rows(each_kafka, topic)
    spark.conf.set(PUSH_DOWN, "true")
    try:
        for condition, kept, tasks in (
            ("partition = 1", lambda row: row[3] == 1, 1),
            ("partition in (0, 2)", lambda row: row[3] != 1, 2),
            ("partition >= 1 and offset > 2", lambda row: row[3] >= 1 and row[4] > 2, 2),
            ("partition = 0 or offset = 3", lambda row: row[3] == 0 or row[4] == 3, 3),
            ("timestamp >= timestamp'1970-01-01 00:00:02'", lambda row: row[5] >= 2000, 3),
            ("timestamp < timestamp'1970-01-01 00:00:02.001'", lambda row: row[5] <= 2000, 3),
            ("timestamp > timestamp'1970-01-01 00:00:09'", lambda _row: False, 1),
            ("timestamp = timestamp'1970-01-01 00:00:09'", lambda row: row[5] == 9000, 3),
            (f"topic = '{topic}' and offset <= 0", lambda row: row[4] <= 0, 3),
        ):
            frame = read(spark, each_kafka, topic, pushFilters=True).where(condition)
            assert rows_of(frame) == [row for row in expected if kept(row)], condition
            assert frame.rdd.getNumPartitions() == tasks, condition
        # Spark keeps the plan of the first filters, so without the option nothing is pushed.
        frame = read(spark, each_kafka, topic)
        assert frame.where("partition = 0").count() == 4
        assert frame.count() == 12
    finally:
        spark.conf.unset(PUSH_DOWN)
    assert read(spark, each_kafka, topic, pushFilters=True).where("partition = 0").count() == 4


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ({"startingOffset": "earliest"}, "Did you mean startingOffsets?"),
        ({"startingOffsets": "latest"}, "startingOffsets: a batch cannot begin at latest"),
        ({"startingOffsets": '{"x":{"0":1}}'}, "must name exactly the partitions that are read"),
        ({"kafka.sasl.mechanism": "PLAIN"}, "kafka.sasl.mechanism"),
        ({"kafka.auto.offset.reset": "latest"}, "kafka.auto.offset.reset cannot be used"),
        ({"subscribe": "no-such-topic"}, "do not exist: no-such-topic"),
        ({"subscribePattern": "x"}, "found subscribe and subscribePattern"),
        ({"minPartitions": "many"}, "minPartitions"),
    ],
)
def test_bad_options_are_reported_by_name(
    spark: Any, kafka: Kafka, options: dict[str, str], reported: str
) -> None:
    topic = kafka.topic("t")
    failure = failure_of(lambda: read(spark, kafka, topic, **options))
    assert reported in failure
    assert failure.count('File "') <= 3  # not the calls that led to the error


@pytest.mark.parametrize(
    ("schema", "reported"),
    [
        ("value string", "Column value in the schema is string, it must be binary"),
        ("payload binary", "Column payload in the schema"),
        ("headers array<struct<key:string,value:binary>>", "includeHeaders"),
    ],
)
def test_schemas_that_cannot_be_honoured_are_refused(
    spark: Any, kafka: Kafka, schema: str, reported: str
) -> None:
    topic = kafka.topic("t")
    assert reported in failure_of(lambda: read(spark, kafka, topic, schema))


def test_an_unreachable_broker_is_named(spark: Any) -> None:
    unreachable = Kafka("127.0.0.1:9")
    options = {"kafka.default.api.timeout.ms": "500"}
    reported = failure_of(lambda: read(spark, unreachable, "t", **options))
    assert "127.0.0.1:9" in reported


def planned(kafka: Kafka, topic: str | None, **options: Any) -> Any:
    """What Spark would call to plan a batch, without Spark."""
    chosen = options_of(kafka, topic, options)
    return batch_reader(chosen, full_schema(with_headers=False)).partitions()


@pytest.mark.parametrize(
    ("option", "accepted"),
    [
        ("startingOffsets", "-2"),
        ("endingOffsets", "-1"),
        ("startingOffsetsByTimestamp", "0"),
        ("endingOffsetsByTimestamp", str(2**62)),
    ],
)
def test_the_advice_on_partitions_not_named_can_be_followed(
    kafka: Kafka, option: str, accepted: str
) -> None:
    topic = kafka.topic("t")
    kafka.produce(topic, ["a"])
    with pytest.raises(InvalidOption, match=f"{option} must name exactly") as caught:
        planned(kafka, topic, **{option: f'{{"{topic}":{{"1":5}}}}'})
    reported = "a time in the future" if accepted == str(2**62) else f"Use {accepted} "
    assert reported in str(caught.value) or f"and {accepted} " in str(caught.value)
    assert len(planned(kafka, topic, **{option: f'{{"{topic}":{{"0":{accepted}}}}}'})) == 1


def test_a_pattern_that_matches_no_topic_is_warned_of(
    kafka: Kafka, caplog: pytest.LogCaptureFixture
) -> None:
    assert planned(kafka, None, subscribePattern="no-such-topic-.*") == []
    assert "no topic matches subscribePattern=no-such-topic-.*" in caplog.text
