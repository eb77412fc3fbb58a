"""Readers and writers connect to the new leader that a response names (KIP-951)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.support.raw_client import batch_of
from tests.unit.client.scripted import TOPIC_ID, VERSIONS, ScriptedBroker, metadata

from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import ProducerIdentity
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import GaveUp, KafkaError, MalformedAnswer, TopicRecreated
from ottla.client.fetching import fetched_records as fetched_module
from ottla.client.fetching.fetcher import fetch_range
from ottla.client.producing.partition_window import AcknowledgedRange
from ottla.client.producing.producer import BatchProducer
from ottla.client.settings import ClientSettings
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages import (
    describe_configs_response,
    fetch_response,
    produce_response,
)
from ottla.protocol.messages.describe_configs_response import DescribeConfigsResponse
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.protocol.messages.produce_response import ProduceResponse
from ottla.protocol.records.batch import read_header, stamp_offset_and_epoch

HERE = TopicPartition("t", 0)
IDENTITY = ProducerIdentity(5, 0)
NOT_LEADER, FENCED = 6, 74


@contextmanager
def two_brokers(
    versions: dict[ApiKey, tuple[int, int]] | None = None,
) -> Iterator[tuple[ScriptedBroker, ScriptedBroker]]:
    """Metadata says forever that the first one leads, with epoch 3."""
    with ScriptedBroker(versions=versions or VERSIONS) as one, ScriptedBroker() as two:
        one.scripts[ApiKey.METADATA] = lambda _: metadata({1: one}, 1, 3)
        two.scripts[ApiKey.METADATA] = lambda _: metadata({1: one}, 1, 3)
        yield one, two


def cluster_of(broker: ScriptedBroker, **changes: int) -> Cluster:
    changes = {"retry_backoff_ms": 1, "default_api_timeout_ms": 10_000, **changes}
    return Cluster(ClientSettings(broker.address, **changes))  # type: ignore[arg-type]


def fetched(
    records: bytes | bytearray, code: int = 0, hint: tuple[int, int] | None = None
) -> FetchResponse:
    part = fetch_response.PartitionData(0, code, 2, 2, 0, records=memoryview(records))
    if hint is not None:
        part.current_leader = fetch_response.LeaderIdAndEpoch(*hint)
    topic = fetch_response.FetchableTopicResponse("t", TOPIC_ID, [part])
    return FetchResponse(responses=[topic])


def written(offset: int, code: int = 0, hint: tuple[int, int] | None = None) -> ProduceResponse:
    part = produce_response.PartitionProduceResponse(0, code, offset)
    if hint is not None:
        part.current_leader = produce_response.LeaderIdAndEpoch(*hint)
    topic = produce_response.TopicProduceResponse("t", TOPIC_ID, [part])
    return ProduceResponse([topic])


@pytest.mark.parametrize("code", [NOT_LEADER, FENCED])
def test_a_reader_goes_where_the_answer_points(code: int) -> None:
    with two_brokers() as (one, two):
        refusal = fetched(b"", code, hint=(2, 4))
        refusal.node_endpoints = [fetch_response.NodeEndpoint(2, "127.0.0.1", two.port)]
        one.scripts[ApiKey.FETCH] = lambda _: refusal
        two.scripts[ApiKey.FETCH] = lambda _: fetched(batch_of(b"a", b"b"))
        with cluster_of(one) as cluster:
            (found,) = fetch_range(cluster, HERE, 0, 2)
        assert found.end_offset == 2
        assert two.requests(ApiKey.FETCH)[0].topics[0].partitions[0].current_leader_epoch == 4
        assert len(one.requests(ApiKey.METADATA)) == 1


@pytest.mark.parametrize("code", [NOT_LEADER, FENCED])
def test_a_writer_goes_where_the_answer_points(code: int) -> None:
    with two_brokers() as (one, two):
        refusal = written(-1, code, hint=(2, 4))
        refusal.node_endpoints = [produce_response.NodeEndpoint(2, "127.0.0.1", two.port)]
        one.scripts[ApiKey.PRODUCE] = lambda _: refusal
        two.scripts[ApiKey.PRODUCE] = lambda _: written(9)
        with cluster_of(one) as cluster, BatchProducer(cluster, IDENTITY) as producer:
            producer.send(HERE, batch_of(b"a", b"b"))
            assert producer.flush()[HERE].ranges == [AcknowledgedRange(9, 11)]
        assert len(one.requests(ApiKey.METADATA)) == 1


def test_without_a_hint_the_leader_is_looked_up_and_asked_again() -> None:
    with two_brokers() as (one, _):
        answers = iter([fetched(b"", NOT_LEADER), fetched(batch_of(b"a", b"b"))])
        one.scripts[ApiKey.FETCH] = lambda _: next(answers)
        with cluster_of(one) as cluster:
            assert len(list(fetch_range(cluster, HERE, 0, 2))) == 1
        assert len(one.requests(ApiKey.METADATA)) == 2


def test_a_reader_gives_up_with_the_reason_when_there_is_no_leader() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.FETCH] = lambda _: fetched(b"", NOT_LEADER)
        with (
            cluster_of(one, default_api_timeout_ms=1_000) as cluster,
            pytest.raises(GaveUp, match=r"t-0 from offset 0: gave up .*NOT_LEADER_OR_FOLLOWER"),
        ):
            list(fetch_range(cluster, HERE, 0, 2))


def test_a_writer_gives_up_with_the_reason_when_there_is_no_leader() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.PRODUCE] = lambda _: written(-1, NOT_LEADER)
        with (
            cluster_of(one, delivery_timeout_ms=1_000) as cluster,
            BatchProducer(cluster, IDENTITY) as producer,
        ):
            producer.send(HERE, batch_of(b"a"))
            with pytest.raises(
                GaveUp, match=r"Produce: gave up .*t-0 at broker 1 .*: NOT_LEADER_OR_FOLLOWER"
            ):
                producer.flush()


def test_a_permanent_error_names_partition_and_offset() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.FETCH] = lambda _: fetched(b"", 29)
        with (
            cluster_of(one) as cluster,
            pytest.raises(
                KafkaError,
                match=r"Fetch of t-0 at offset 1 from broker 1 \(127.*: TOPIC_AUTHORIZATION",
            ),
        ):
            list(fetch_range(cluster, HERE, 1, 2))


def test_the_error_about_malformed_records_names_broker_and_partition() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.FETCH] = lambda _: fetched(bytes(100))
        with (
            cluster_of(one) as cluster,
            pytest.raises(MalformedAnswer, match=rf"{one.address}: .*t-0 from offset 0"),
        ):
            list(fetch_range(cluster, HERE, 0, 2))


@pytest.mark.parametrize("policy", ["compact", "compact,delete"])
def test_nothing_left_before_the_end_is_what_compaction_left(policy: str) -> None:
    with two_brokers() as (one, _):
        script_gap(one, {"cleanup.policy": policy})
        with cluster_of(one) as cluster:
            assert list(fetch_range(cluster, HERE, 0, 2)) == []
        assert len(one.requests(ApiKey.DESCRIBE_CONFIGS)) == 1


def test_a_topic_that_was_compacted_once_ends_when_its_broker_stays_silent(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with two_brokers() as (one, _):
        script_gap(one, {"cleanup.policy": "delete", "remote.storage.enable": "false"})
        monkeypatch.setattr(fetched_module, "SILENCE_MIN_S", 0.05)
        with cluster_of(one) as cluster:
            assert list(fetch_range(cluster, HERE, 0, 2)) == []
        assert len(one.requests(ApiKey.DESCRIBE_CONFIGS)) > 1
    assert "t-0: nothing came from offset 0 on" in caplog.text


def test_a_silence_may_pass_where_nothing_was_compacted() -> None:
    """A record that comes late is read."""
    with two_brokers() as (one, _):
        script_gap(one, {"cleanup.policy": "delete"})
        answers = iter([b""] * 30)
        one.scripts[ApiKey.FETCH] = lambda _: fetched(next(answers, batch_of(b"a", b"b")))
        with cluster_of(one) as cluster:
            assert len(list(fetch_range(cluster, HERE, 0, 2))) == 1


def test_what_a_broker_gets_from_elsewhere_is_waited_for() -> None:
    with two_brokers() as (one, _):
        script_gap(one, {"cleanup.policy": "delete", "remote.storage.enable": "true"})
        with (
            cluster_of(one, default_api_timeout_ms=1_000) as cluster,
            pytest.raises(GaveUp, match=r"nothing came from offset 0 on, .* ends at 2"),
        ):
            list(fetch_range(cluster, HERE, 0, 2))


def script_gap(broker: ScriptedBroker, configs: dict[str, str]) -> None:
    """It has an end at 2, and nothing before that."""
    described = [
        describe_configs_response.DescribeConfigsResourceResult(*item) for item in configs.items()
    ]
    result = describe_configs_response.DescribeConfigsResult(0, None, 2, "t", described)
    broker.scripts[ApiKey.FETCH] = lambda _: fetched(b"")
    broker.scripts[ApiKey.DESCRIBE_CONFIGS] = lambda _: DescribeConfigsResponse(0, [result])


def test_a_topic_created_again_is_distinguished_from_one_that_is_just_unknown() -> None:
    with two_brokers() as (one, _):
        new_id = bytes(reversed(TOPIC_ID))
        reported = iter([metadata({1: one}, 1, 3), metadata({1: one}, 1, 0, topic_id=new_id)])
        one.scripts[ApiKey.METADATA] = lambda _: next(reported)
        one.scripts[ApiKey.FETCH] = lambda _: fetched(b"", 100)
        with cluster_of(one) as cluster, pytest.raises(TopicRecreated) as caught:
            list(fetch_range(cluster, HERE, 0, 2))
        assert (caught.value.old_id, caught.value.new_id) == (TOPIC_ID, new_id)


@pytest.mark.parametrize(("fetch", "produce"), [((4, 12), (3, 12)), ((4, 4), (3, 3))])
def test_older_brokers_are_asked_by_name(fetch: tuple[int, int], produce: tuple[int, int]) -> None:
    old = {**VERSIONS, ApiKey.FETCH: fetch, ApiKey.PRODUCE: produce}
    with two_brokers(old) as (one, _):
        one.scripts[ApiKey.FETCH] = lambda _: fetched(batch_of(b"a", b"b"))
        one.scripts[ApiKey.PRODUCE] = lambda _: written(0)
        with cluster_of(one) as cluster:
            assert len(list(fetch_range(cluster, HERE, 0, 2))) == 1
            with BatchProducer(cluster, IDENTITY) as producer:
                producer.send(HERE, batch_of(b"a"))
                producer.flush()
        assert one.requests(ApiKey.FETCH)[0].topics[0].topic == "t"
        assert one.requests(ApiKey.PRODUCE)[0].topic_data[0].name == "t"


def sequences_of(broker: ScriptedBroker) -> list[int]:
    """Of all batches that came, in order."""
    return [
        read_header(part.records).base_sequence
        for request in broker.requests(ApiKey.PRODUCE)
        for topic in request.topic_data
        for part in topic.partition_data
    ]


def answers(*codes: int | None) -> Callable[[Any], ProduceResponse | None]:
    """One after the other: None hangs up, and after the last all is well."""
    rest = list(codes)
    offsets = iter(range(1000))

    def answer(_request: Any) -> ProduceResponse | None:
        code = rest.pop(0) if rest else 0
        return None if code is None else written(next(offsets) if not code else -1, code)

    return answer


def test_what_was_on_its_way_when_the_broker_hung_up_goes_again_with_its_sequences() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.PRODUCE] = answers(0, 0, None)
        with cluster_of(one) as cluster, BatchProducer(cluster, IDENTITY) as producer:
            for _ in range(6):
                producer.send(HERE, batch_of(b"a"))
            assert producer.flush()[HERE].records == 6
        seen = sequences_of(one)
        assert seen[:3] == [0, 1, 2]
        assert seen[3:] in ([2, 3, 4, 5], [1, 2, 3, 4, 5])  # an answer may be lost with it


def test_a_repetition_that_the_broker_no_longer_remembers_counts_as_stored() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.PRODUCE] = answers(0, 46)
        with cluster_of(one) as cluster, BatchProducer(cluster, IDENTITY) as producer:
            producer.send(HERE, batch_of(b"a"))
            producer.send(HERE, batch_of(b"b"))
            assert producer.flush()[HERE].records == 2


def test_an_unexplained_gap_in_the_sequence_is_raised() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.PRODUCE] = answers(0, 45)
        with cluster_of(one) as cluster, BatchProducer(cluster, IDENTITY) as producer:
            producer.send(HERE, batch_of(b"a"))
            producer.send(HERE, batch_of(b"b"))
            with pytest.raises(KafkaError, match="earlier batch of this producer is missing"):
                producer.flush()


def test_a_batch_that_keeps_arriving_damaged_is_our_own_fault() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.PRODUCE] = answers(2, 2, 2)
        with cluster_of(one) as cluster, BatchProducer(cluster, IDENTITY) as producer:
            producer.send(HERE, batch_of(b"a"))
            with pytest.raises(KafkaError, match="CORRUPT_MESSAGE"):
                producer.flush()


def test_a_broker_that_tells_nothing_of_a_batch_is_not_believed() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.PRODUCE] = lambda _: ProduceResponse()
        with cluster_of(one) as cluster, BatchProducer(cluster, IDENTITY) as producer:
            producer.send(HERE, batch_of(b"a"))
            with pytest.raises(MalformedAnswer, match="nothing is said of t-0"):
                producer.flush()


def fetch_threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name.startswith("fetch from")]


def test_a_reader_that_stops_early_leaves_no_thread_and_no_connection_behind() -> None:
    with two_brokers() as (one, _):
        one.scripts[ApiKey.FETCH] = lambda request: fetched(
            batch_at(request.topics[0].partitions[0].fetch_offset)
        )
        with cluster_of(one) as cluster:
            for fetching in (fetch_range(cluster, HERE, 0), fetch_range(cluster, HERE, 0, 1000)):
                assert next(fetching).start_offset == 0
                assert fetch_threads() == ["fetch from broker 1"]
                fetching.close()  # type: ignore[attr-defined]  # it is a generator
                assert fetch_threads() == []


def batch_at(offset: int) -> bytearray:
    batch = batch_of(b"a", b"b")
    stamp_offset_and_epoch(batch, 0, offset, 0)
    return batch


def test_a_bug_in_the_reading_thread_is_raised_where_somebody_sees_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_self: object, _answer: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("ottla.client.fetching.fetch_session.ClientFetchSession.read", fail)
    with two_brokers() as (one, _):
        one.scripts[ApiKey.FETCH] = lambda _: fetched(b"")
        with cluster_of(one) as cluster, pytest.raises(ZeroDivisionError):
            list(fetch_range(cluster, HERE, 0, 2))
