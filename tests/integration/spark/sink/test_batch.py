"""`df.write.format("ottla")` in a real session, read back by confluent-kafka."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer
from tests.integration.spark.sink.committed_records import (
    Found,
    committed,
    committed_times,
    committed_values,
)
from tests.support.waiting import wait_until

from ottla.client.admin.transactions import list_transactions
from ottla.client.cluster.cluster import Cluster

pytestmark = pytest.mark.xdist_group("spark")

HEADERS = "array<struct<key:string,value:binary>>"


def write(rows: Any, servers: str, topic: str | None, mode: str = "append", **options: Any) -> None:
    writer = rows.write.format("ottla").mode(mode).option("kafka.bootstrap.servers", servers)
    if topic is not None:
        writer = writer.option("topic", topic)
    for name, value in options.items():
        writer = writer.option(name.replace("__", "."), value)
    writer.save()


def values(spark: Any, *rows: str) -> Any:
    return spark.createDataFrame([(each,) for each in rows], "value string")


def failure_of(action: Callable[[], None]) -> str:
    with pytest.raises(Exception) as caught:
        action()
    return str(caught.value)


def test_every_column_arrives(spark: Any, servers: str, new_topic: Callable[..., str]) -> None:
    topic = new_topic(3)
    rows = spark.createDataFrame(
        [
            ("a", b"one", 2, [("h", b"1"), ("h", None)], "ignored"),
            (None, b"two", 0, None, "ignored"),
            ("tombstone", None, 1, [], "ignored"),
        ],
        f"key string, value binary, partition int, headers {HEADERS}, Partition2 string",
    )
    write(rows, servers, topic)
    assert committed(servers, topic) == [
        Found(0, None, "two"),
        Found(1, "tombstone", None),
        Found(2, "a", "one", (("h", b"1"), ("h", None))),
    ]


def test_the_column_timestamp_is_the_time_of_the_records(
    spark: Any, servers: str, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(3)
    rows = spark.range(300).selectExpr(
        "cast(id % 7 AS string) AS key",
        "cast(id AS string) AS value",
        "timestamp_millis(1700000000000 + id) AS timestamp",
    )
    write(rows, servers, topic)
    write(
        values(spark, "now").selectExpr("value", "cast(null AS timestamp) timestamp"),
        servers,
        topic,
    )
    times = dict(committed_times(servers, topic))
    now_ms = times.pop("now")
    assert times == {str(each): 1_700_000_000_000 + each for each in range(300)}
    assert abs(now_ms - time.time() * 1000) < 3_600_000


@pytest.mark.parametrize("headers", ["map('h', '1')", "array(struct('h' AS key, '1' AS value))"])
def test_the_advice_on_headers_of_another_type_can_be_followed(
    spark: Any, servers: str, new_topic: Callable[..., str], headers: str
) -> None:
    topic = new_topic(1)
    rows = values(spark, "a").selectExpr("value", f"{headers} AS headers")
    reported = failure_of(lambda: write(rows, servers, topic))
    advice = re.search(r"value:binary>>: use (.*)\.\s", reported)
    assert advice is not None, reported
    write(rows.selectExpr("value", f"{advice[1]} AS headers"), servers, topic)
    assert committed(servers, topic) == [Found(0, None, "a", (("h", b"1"),))]


def test_keys_go_where_javas_producer_sends_them(
    spark: Any, servers: str, new_topic: Callable[..., str]
) -> None:
    ours, theirs = new_topic(5), new_topic(5)
    rows = spark.range(500).selectExpr("concat('k', id % 40) as key", "cast(id as string) as value")
    write(rows, servers, ours)
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random"})
    for number in range(500):
        producer.produce(theirs, str(number), f"k{number % 40}")
    producer.flush()
    assert sorted(committed(servers, ours)) == sorted(committed(servers, theirs))


def test_rows_name_their_topics(spark: Any, servers: str, new_topic: Callable[..., str]) -> None:
    one, two = new_topic(1), new_topic(2)
    rows = spark.createDataFrame([(one, "a"), (two, "b"), (one, "c")], "topic string, value string")
    write(rows, servers, None)
    assert committed_values(servers, one) == ["a", "c"]
    assert committed_values(servers, two) == ["b"]
    write(rows, servers, two)
    assert committed_values(servers, two) == ["a", "b", "b", "c"]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_batches_are_compressed_as_asked_for(
    spark: Any, servers: str, new_topic: Callable[..., str], codec: str
) -> None:
    topic = new_topic(2)
    rows = spark.range(2000).selectExpr("repeat(cast(id as string), 20) as value")
    write(rows, servers, topic, kafka__compression__type=codec, kafka__batch__size=5000)
    expected = sorted(str(number) * 20 for number in range(2000))
    assert committed_values(servers, topic) == expected


def test_a_write_that_fails_leaves_nothing(
    spark: Any, servers: str, new_topic: Callable[..., str], cluster: Cluster
) -> None:
    topic = new_topic(2)
    rows = spark.range(0, 100, 1, 2).selectExpr(
        "if(id = 99, cast(raise_error('boom') as string), cast(id as string)) as value"
    )
    assert "boom" in failure_of(lambda: write(rows, servers, topic, chunkBytes=10))
    assert committed(servers, topic) == []
    # The task ends its transaction by itself, which Spark does not wait for.
    wait_until(lambda: not list_transactions(cluster, states=["Ongoing"]), "all have ended")
    assert committed(servers, topic) == []


def test_a_version_of_an_application_is_written_once(
    spark: Any, servers: str, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(2)
    for version, value in ((4, "a"), (4, "b"), (3, "c"), (5, "d")):
        write(values(spark, value), servers, topic, txnAppId=f"app-{topic}", txnVersion=version)
    write(values(spark, "e"), servers, topic, txnAppId=f"other-{topic}", txnVersion=4)
    assert committed_values(servers, topic) == ["a", "d", "e"]


def test_one_version_of_an_application_may_go_to_several_topics(
    spark: Any, servers: str, new_topic: Callable[..., str]
) -> None:
    first, second = new_topic(1), new_topic(1)
    for topic in (first, second, second):
        write(values(spark, "a"), servers, topic, txnAppId=f"app-{first}", txnVersion=1)
    assert committed_values(servers, first) == committed_values(servers, second) == ["a"]


def test_writes_are_not_skipped_without_versions(
    spark: Any, servers: str, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(1)
    for name in ("", "", f"named-{topic}", f"named-{topic}"):
        write(values(spark, "a"), servers, topic, **({"sinkName": name} if name else {}))
    assert committed_values(servers, topic) == ["a"] * 4


def test_at_least_once_writes_without_transactions(
    spark: Any, servers: str, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(1)
    write(values(spark, "a", "b"), servers, topic, delivery="at-least-once")
    assert committed_values(servers, topic) == ["a", "b"]


def test_what_others_write_into_the_topic_of_decisions_stops_no_write(
    spark: Any, servers: str, new_topic: Callable[..., str]
) -> None:
    topic, decisions = new_topic(1), new_topic(1, cleanup_policy="compact")
    broken = spark.createDataFrame([("decision/batch-x", "text")], "key string, value string")
    write(broken, servers, decisions, delivery="at-least-once")
    write(values(spark, "a"), servers, topic, decisionsTopic=decisions)
    assert [each.value for each in committed(servers, topic)] == ["a"]


def test_no_rows_are_no_trouble(spark: Any, servers: str, new_topic: Callable[..., str]) -> None:
    topic = new_topic(1)
    write(values(spark, "a").where("false"), servers, topic)
    assert committed(servers, topic) == []


def test_what_cannot_be_written_says_so_and_what_to_do(
    spark: Any, servers: str, new_topic: Callable[..., str]
) -> None:
    topic = new_topic(2, max_message_bytes="2000")
    some = values(spark, "a")

    def failing(rows: Any, target: str | None = topic, **options: Any) -> str:
        return failure_of(lambda: write(rows, servers, target, **options))

    assert "topics are only appended" in failing(some, mode="overwrite")
    assert "Did you mean topic?" in failing(some, topc="t")
    reported = failing(values(spark, "x" * 5000))
    assert f"Produce to {topic}-" in reported
    assert "raise that, or lower the option kafka.batch.size" in reported
    wrong = spark.createDataFrame([("a", 7)], "value string, partition int")
    assert f"A row for topic {topic} names partition 7" in failing(wrong)
    no_topic = spark.createDataFrame([("a", None)], "value string, topic string")
    assert "Row 0 of this task (counted from 0) has no topic" in failing(no_topic, None)
    decisions = "ottla-spark-decisions"
    refused = f"{decisions}: it holds the decisions of sinks"
    assert f"Option topic={refused}" in failing(some, decisions)
    named = some.selectExpr("value", f"'{decisions}' as topic")
    assert f"A row names the topic {refused}" in failing(named, None)
    assert f"Option topic={topic}: it holds" in failing(some, decisionsTopic=topic)
    assert "Topics such as __consumer_offsets are internal" in failing(some, "__consumer_offsets")
    assert "partition is bigint" in failing(some.selectExpr("value", "1L as partition"))
    patient = failing(some, kafka__transaction__timeout__ms=2_000_000_000)
    assert "lower the option kafka.transaction.timeout.ms" in patient
    unreachable: dict[str, Any] = {
        "kafka__bootstrap__servers": "127.0.0.1:1",
        "kafka__default__api__timeout__ms": 500,
    }
    assert "127.0.0.1:1" in failing(some, **unreachable)
    assert committed(servers, topic) == []
