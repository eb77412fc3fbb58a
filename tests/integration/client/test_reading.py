"""Ranges of offsets, as readers ask for them."""

from __future__ import annotations

import random
import threading
import time

import pytest
from tests.integration.client.helpers import (
    new_topic,
    produce,
    read_values,
    read_with_librdkafka,
    values_of,
)
from tests.support.raw_client import RawClient, batch_of
from tests.support.waiting import wait_until

from ottla.base.ids import NO_OFFSET, TopicPartition
from ottla.client.admin.list_offsets import (
    EARLIEST,
    LATEST,
    earliest_offsets,
    latest_offsets,
    list_offsets,
)
from ottla.client.admin.topics import NewTopic, create_topics, delete_records, delete_topics
from ottla.client.admin.transactions import end_transaction, init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import GaveUp, OffsetOutOfRange, TopicRecreated, UnknownTopic
from ottla.client.fetching.fetcher import Fetcher, PartitionRange, fetch_range, fetch_ranges
from ottla.client.producing.producer import BatchProducer
from ottla.client.settings import ClientSettings


def impatient(cluster: Cluster, **changes: int) -> Cluster:
    """The same cluster for a client whose fetches return early if there are no new records."""
    changes = {"default_api_timeout_ms": 120_000, "fetch_max_wait_ms": 50, **changes}
    return Cluster(ClientSettings(cluster.settings.bootstrap_servers, **changes))  # type: ignore[arg-type]


def test_topics_are_described_with_their_leaders_and_ids(cluster: Cluster) -> None:
    topic = new_topic(cluster, partitions=3)
    described = cluster.describe_topics([topic, "no-such-topic"])
    assert described.keys() == {topic}
    assert [each.partition for each in described[topic].partitions] == [0, 1, 2]
    assert all(each.leader in cluster.broker_ids() for each in described[topic].partitions)
    assert any(described[topic].topic_id)
    assert topic in cluster.list_topics()


def test_offsets_are_found_by_place_and_by_time(cluster: Cluster, address: str) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    now_ms = time.time_ns() // 1_000_000  # long ago, retention would take them away
    with RawClient(address) as raw:
        for delta_ms in (10, 20, 30):
            raw.produce(partition.topic, batch_of(b"x", timestamp_ms=now_ms + delta_ms))
    assert earliest_offsets(cluster, [partition]) == {partition: 0}
    assert latest_offsets(cluster, [partition]) == {partition: 3}
    for delta_ms, offset in ((0, 0), (11, 1), (30, 2), (31, NO_OFFSET)):
        found = list_offsets(cluster, {partition: now_ms + delta_ms})[partition]
        assert found.offset == offset
    assert list_offsets(cluster, {partition: LATEST})[partition].offset == 3
    assert list_offsets(cluster, {partition: EARLIEST})[partition].offset == 0


def test_a_range_may_begin_and_end_inside_a_batch(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, [[b"%d" % (10 * n + at) for at in range(10)] for n in range(10)])
    for start, end in ((0, 100), (0, 1), (5, 5), (13, 87), (99, 100), (30, 40)):
        expected = [(offset, b"%d" % offset) for offset in range(start, end)]
        assert read_values(cluster, partition, start, end) == expected


def test_many_partitions_share_answers_that_are_too_small_for_all(cluster: Cluster) -> None:
    topic = new_topic(cluster, partitions=8)
    partitions = [TopicPartition(topic, number) for number in range(8)]
    for each in partitions:
        produce(cluster, each, [[b"%04d" % n + bytes(500)] for n in range(50)])
    with impatient(cluster, fetch_max_bytes=3_000) as small:
        found: dict[TopicPartition, list[int]] = {each: [] for each in partitions}
        for fetched in fetch_ranges(small, [PartitionRange(each, 0, 50) for each in partitions]):
            found[fetched.partition] += [offset for offset, _ in values_of(fetched)]
    assert all(offsets == list(range(50)) for offsets in found.values())


def test_what_a_reader_keeps_is_never_overwritten(cluster: Cluster) -> None:
    """Buffers are reused, but only those without a view."""
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, [[bytes([n]) * 300_000] for n in range(40)])
    with impatient(cluster, max_partition_fetch_bytes=400_000) as small:
        kept = [
            fetched
            for number, fetched in enumerate(fetch_range(small, partition, 0, 40))
            if number % 3
        ]
    for fetched in kept:
        for offset, value in values_of(fetched):
            assert value == bytes([offset]) * 300_000


def test_a_batch_larger_than_every_limit_is_read_nevertheless(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, [[bytes(700_000)], [b"small"]])
    with impatient(cluster, max_partition_fetch_bytes=1_000, fetch_max_bytes=1_000) as small:
        values = read_values(small, partition, 0, 2)
    assert [len(value or b"") for _, value in values] == [700_000, 5]


def test_records_that_are_not_there_yet_are_waited_for(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, [[b"first"]])

    def write_more() -> None:
        with Cluster(cluster.settings) as other:
            produce(other, partition, [[b"second"]])

    writer = threading.Thread(target=write_more)
    found: list[tuple[int, bytes | None]] = []
    for fetched in fetch_range(cluster, partition, 0, 2):
        found += values_of(fetched)
        if len(found) == 1:
            writer.start()
    writer.join()
    assert found == [(0, b"first"), (1, b"second")]


def test_waiting_for_records_that_never_come_ends_with_the_reason(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, [[b"only"]])
    expected = r"nothing came from offset 1 on, .* the log ends at 1"
    with impatient(cluster, default_api_timeout_ms=2_000) as brief:
        assert read_values(brief, partition, 0, 1)  # it knows the way
        with pytest.raises(GaveUp, match=expected):
            read_values(brief, partition, 0, 2)


def test_a_range_without_an_end_is_polled(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, [[b"a"]])
    with impatient(cluster) as brief, Fetcher(brief, [PartitionRange(partition, 0)]) as fetcher:
        first = fetcher.poll(120)
        assert first is not None
        assert list(values_of(first)) == [(0, b"a")]
        assert fetcher.poll(0.1) is None
        produce(cluster, partition, [[b"b"]])
        second = None
        while second is None:
            second = fetcher.poll(1)
        assert list(values_of(second)) == [(1, b"b")]
        assert not fetcher.is_done


def test_deleted_records_are_an_error_that_tells_what_is_left(cluster: Cluster) -> None:
    partition = TopicPartition(new_topic(cluster), 0)
    produce(cluster, partition, [[b"a"], [b"b"], [b"c"]])
    delete_records(cluster, {partition: 2})
    with pytest.raises(OffsetOutOfRange) as caught:
        read_values(cluster, partition, 1, 3)
    assert (caught.value.offset, caught.value.log_start, caught.value.end) == (1, 2, 3)
    with pytest.raises(OffsetOutOfRange, match="beyond the end"):
        read_values(cluster, partition, 9, 10)


def test_a_topic_created_again_is_noticed_by_its_id(cluster: Cluster) -> None:
    topic = new_topic(cluster)
    partition = TopicPartition(topic, 0)
    produce(cluster, partition, [[b"old"]] * 5)
    old_id = cluster.describe_topics([topic])[topic].topic_id
    delete_topics(cluster, [topic])
    create_topics(cluster, [NewTopic(topic, 1, 1)])
    produce(cluster, partition, [[b"new"]] * 10)
    for start in (0, 5):
        with pytest.raises(TopicRecreated) as caught:
            list(fetch_range(cluster, partition, start, 10, topic_id=old_id))
        assert caught.value.old_id == old_id
        assert caught.value.new_id == cluster.describe_topics([topic])[topic].topic_id


def test_a_topic_created_again_in_the_middle_of_a_read_is_noticed(cluster: Cluster) -> None:
    topic = new_topic(cluster)
    partition = TopicPartition(topic, 0)
    produce(cluster, partition, [[bytes(1000)]] * 50)
    with impatient(cluster, max_partition_fetch_bytes=3_000) as small:
        fetching = fetch_range(small, partition, 0, 50)
        next(fetching)
        delete_topics(cluster, [topic])
        create_topics(cluster, [NewTopic(topic, 1, 1)])
        produce(cluster, partition, [[bytes(1000)]] * 50)
        with pytest.raises(TopicRecreated):
            list(fetching)


def test_an_unknown_topic_is_named(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.client.cluster.cluster.UNKNOWN_TOPIC_MS", 50)
    with pytest.raises(UnknownTopic, match=r"no-such-topic: .*does not exist"):
        read_values(cluster, TopicPartition("no-such-topic", 0), 0, 1)
    topic = new_topic(cluster)
    with pytest.raises(UnknownTopic, match=rf"{topic}-7: .*does not exist"):
        read_values(cluster, TopicPartition(topic, 7), 0, 1)


def test_transactions_in_any_order_read_as_librdkafka_reads_them(
    cluster: Cluster, address: str
) -> None:
    """Several producers, each with a transaction open or not, take turns at random."""
    rng = random.Random(20)
    partition = TopicPartition(new_topic(cluster), 0)
    with RandomWriters(cluster, partition, rng) as writers:
        for _ in range(150):
            writers.act()
        # Brokers answer EndTxn a little before readers see it.
        wait_until(lambda: stable_end(cluster, partition) == writers.stable_end(), "all is ended")
    for isolation_level in ("read_committed", "read_uncommitted"):
        expected = read_with_librdkafka(address, partition, isolation_level)
        assert expected
        assert read_values(cluster, partition, isolation_level=isolation_level) == expected
        # From anywhere in the middle as well, where a transaction began earlier.
        for start in rng.sample(range(expected[-1][0]), 10):
            rest = [each for each in expected if each[0] >= start]
            end = expected[-1][0] + 1
            assert read_values(cluster, partition, start, end, isolation_level) == rest


def stable_end(cluster: Cluster, partition: TopicPartition) -> int:
    return latest_offsets(cluster, [partition], "read_committed")[partition]


class RandomWriters:
    def __init__(self, cluster: Cluster, partition: TopicPartition, rng: random.Random) -> None:
        self._cluster, self._partition, self._rng = cluster, partition, rng
        names = [f"{partition.topic}/{number}" for number in range(4)]
        self._identities = {name: init_producer_id(cluster, name) for name in names}
        self._producers = {
            name: BatchProducer(cluster, identity, name)
            for name, identity in self._identities.items()
        }
        self._plain = BatchProducer(cluster, init_producer_id(cluster))
        self._open: dict[str, int] = {}  # where each began
        self._written = 0

    def __enter__(self) -> RandomWriters:
        return self

    def __exit__(self, *_: object) -> None:
        for producer in (*self._producers.values(), self._plain):
            producer.close()

    def stable_end(self) -> int:
        """Up to where readers of committed records may see."""
        end = latest_offsets(self._cluster, [self._partition])[self._partition]
        return min(self._open.values(), default=end)

    def act(self) -> None:
        """One producer writes a little, or ends its transaction."""
        name = self._rng.choice(sorted(self._producers))
        chance = self._rng.random()
        if chance < 0.15:
            self._write(self._plain)
        elif chance < 0.45 and name in self._open:
            self._end(name)
        else:
            self._open.setdefault(name, self._write(self._producers[name]))

    def _write(self, producer: BatchProducer) -> int:
        """The offset of the first of them."""
        count = self._rng.randint(1, 3)
        values = [b"%d" % (self._written + at) for at in range(count)]
        self._written += count
        producer.send(self._partition, batch_of(*values))
        return producer.flush()[self._partition].ranges[-1][0]

    def _end(self, name: str) -> None:
        del self._open[name]
        commit = self._rng.random() < 0.5
        end_transaction(self._cluster, name, self._identities[name], commit=commit)
        self._producers[name].begin_transaction()
