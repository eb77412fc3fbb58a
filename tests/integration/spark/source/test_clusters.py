"""Spark jobs over a cluster of three brokers whose brokers are killed, restarted and given work.

Rows are compared with what confluent-kafka reads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from tests.integration.client.three_brokers import IDS, UNCLEAN, ThreeBrokers, rack_of
from tests.integration.spark.queries import insist
from tests.integration.spark.source.dataframes import (
    Batches,
    expected_rows,
    read,
    read_stream,
    rows_of,
    run_to_end,
)
from tests.support.waiting import wait_until

from ottla.testing import Kafka

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("spark")]

PARTITIONS = [[2, 3, 1], [3, 2, 1], [1, 2, 3]]
SMALL: dict[str, Any] = {"kafka.fetch.max.bytes": 20_000, "kafka.max.partition.fetch.bytes": 10_000}
VALUES = [b"%06d" % number * 100 for number in range(3000)]  # 1.8 MB in each partition


@pytest.fixture
def kafka_of_three(three: ThreeBrokers) -> Iterator[Kafka]:
    three.start_all()
    kafka = Kafka(three.bootstrap_servers)
    yield kafka
    three.start_all()
    kafka.close()


@contextmanager
def writing(three: ThreeBrokers, topic: str) -> Iterator[None]:
    """Records come all the time, in all partitions."""
    ending = threading.Event()
    failures: list[Any] = []

    def write() -> None:
        producer = Producer({"bootstrap.servers": three.bootstrap_servers, "log_level": 0})
        number = 0
        while not ending.wait(0.005):
            producer.produce(
                topic, b"%d" % number, partition=number % len(PARTITIONS),
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )  # fmt: skip
            producer.poll(0)
            number += 1
        assert producer.flush(300) == 0

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()
    assert not failures


def wait_for_rows(query: Any, batches: Batches) -> None:
    """More than there are now."""
    before = sum(map(len, batches.rows.values()))

    def has_more() -> bool:
        assert query.isActive, query.exception()
        return sum(map(len, batches.rows.values())) > before

    wait_until(has_more, "the stream continues")


def test_a_stream_outlives_killed_restarted_and_moved_leaders(
    spark: Any, three: ThreeBrokers, kafka_of_three: Kafka, tmp_path: Path
) -> None:
    topic = three.topic(PARTITIONS)
    frame = read_stream(spark, kafka_of_three, topic, startingOffsets="earliest")
    batches = Batches()

    def start() -> Any:
        stream = frame.writeStream.foreachBatch(batches.collect)
        query = stream.option("checkpointLocation", str(tmp_path)).start()
        wait_for_rows(query, batches)
        return query

    with writing(three, topic):
        query = insist(start)
        three.kill(2)
        wait_for_rows(query, batches)
        three.start(2)
        for each in IDS:  # one after the other, as an upgrade does
            for number in range(len(PARTITIONS)):
                three.wait_in_sync(topic, IDS, number)
            three.stop(each)
            wait_for_rows(query, batches)
            three.start(each)
        for number, replicas in enumerate(([3, 1], [1], [2, 3])):
            three.reassign(topic, replicas, number)
        wait_for_rows(query, batches)
    query.stop()
    run_to_end(frame, tmp_path, batches)
    assert batches.all_rows == expected_rows(kafka_of_three, topic)


def test_a_batch_outlives_the_leader_that_it_reads_from(
    spark: Any, three: ThreeBrokers, kafka_of_three: Kafka
) -> None:
    topic = three.topic(PARTITIONS)
    for number in range(len(PARTITIONS)):
        three.produce(topic, VALUES, number)
    frame = read(spark, kafka_of_three, topic, **SMALL)
    before, killed = three.written_bytes(3), threading.Event()

    def kill() -> None:
        wait_until(lambda: three.written_bytes(3) - before > 300_000, "it is being read")
        three.kill(3)
        killed.set()

    thread = threading.Thread(target=kill)
    thread.start()
    found = insist(lambda: rows_of(frame))
    thread.join()
    assert killed.is_set()
    assert found == expected_rows(kafka_of_three, topic)


def test_executors_read_from_the_followers_in_their_rack(
    spark: Any, three: ThreeBrokers, kafka_of_three: Kafka
) -> None:
    topic = three.topic([[2, 3, 1]])
    three.produce(topic, VALUES)
    expected = expected_rows(kafka_of_three, topic)
    before = {each: three.written_bytes(each) for each in IDS}
    frame = read(spark, kafka_of_three, topic, **{"kafka.client.rack": rack_of(3)})
    assert insist(lambda: rows_of(frame)) == expected
    sent = {each: three.written_bytes(each) - before[each] for each in IDS}
    all_bytes = sum(map(len, VALUES))
    assert sent[3] > all_bytes > 4 * sent[2], sent


def test_a_stream_stops_or_resumes_where_an_unclean_election_lost_records(
    spark: Any, three: ThreeBrokers, kafka_of_three: Kafka, tmp_path: Path
) -> None:
    """In a log that is longer than before, and in one that ends before what was read."""
    longer, shorter = (three.topic([[2, 3]], **UNCLEAN) for _ in range(2))
    for topic in (longer, shorter):
        three.produce(topic, [b"kept"] * 10)
    topics = f"{longer},{shorter}"
    strict = read_stream(spark, kafka_of_three, topics, startingOffsets="earliest")
    lenient = read_stream(
        spark, kafka_of_three, topics, startingOffsets="earliest", failOnDataLoss=False
    )
    lost = dict.fromkeys((longer, shorter), [b"lost"] * 10)
    instead = {longer: [b"instead"] * 15, shorter: [b"instead"] * 4}
    before = Batches()
    for _ in three.lose_records(lost, instead):
        run_to_end(strict, tmp_path, before)
        assert before.all_rows == expected_rows(kafka_of_three, longer, shorter)
    with pytest.raises(Exception, match=f"{longer}-0: the records from offset 10 up to 20"):
        run_to_end(strict, tmp_path)
    after = run_to_end(lenient, tmp_path)
    now = expected_rows(kafka_of_three, longer, shorter)
    assert after.all_rows == [row for row in now if row[1] == b"instead"]
    three.produce(shorter, [b"more"])
    last = run_to_end(strict, tmp_path)
    assert [(row[1], row[4]) for row in last.all_rows] == [(b"more", 14)]
