"""Whom a client asks, and whom next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.unit.client.scripted import VERSIONS, ScriptedBroker, metadata

from ottla.base.ids import TopicPartition
from ottla.client.admin.group_offsets import commit_offsets, committed_offsets
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.admin.transactions import init_producer_id
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import GaveUp, KafkaError, UnknownTopic, Unreachable
from ottla.client.settings import ClientSettings
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.find_coordinator_response import (
    Coordinator,
    FindCoordinatorResponse,
)
from ottla.protocol.messages.init_producer_id_response import InitProducerIdResponse
from ottla.protocol.messages.list_offsets_response import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.protocol.messages.metadata_response import MetadataResponse, MetadataResponseTopic
from ottla.protocol.messages.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.messages.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from ottla.testing.ports import non_ephemeral_ports

HERE = TopicPartition("t", 0)


@contextmanager
def two_brokers() -> Iterator[dict[int, ScriptedBroker]]:
    with ScriptedBroker() as one, ScriptedBroker() as two:
        yield {1: one, 2: two}


def cluster_of(*brokers: ScriptedBroker, **changes: int) -> Cluster:
    changes = {"retry_backoff_ms": 1, "default_api_timeout_ms": 10_000, **changes}
    addresses = ",".join(broker.address for broker in brokers)
    return Cluster(ClientSettings(addresses, **changes))  # type: ignore[arg-type]


def offset_answer(offset: int, code: int = 0) -> ListOffsetsResponse:
    part = ListOffsetsPartitionResponse(0, code, -1, offset)
    return ListOffsetsResponse(0, [ListOffsetsTopicResponse("t", [part])])


def leads(brokers: dict[int, ScriptedBroker], *leaders: tuple[int, int]) -> None:
    """Responses of Metadata, one (leader, epoch) after the other; the last is repeated."""
    reported = list(leaders)

    def answer(_request: Any) -> MetadataResponse:
        leader, epoch = reported.pop(0) if len(reported) > 1 else reported[0]
        return metadata(brokers, leader, epoch)

    for broker in brokers.values():
        broker.scripts[ApiKey.METADATA] = answer


@pytest.mark.parametrize("code", [5, 6, 9, 56, 74, 75, 78])
def test_a_leader_that_is_none_is_looked_up_again(code: int) -> None:
    with two_brokers() as brokers:
        leads(brokers, (1, 3), (2, 4))
        answers = iter([offset_answer(-1, code), offset_answer(7)])
        brokers[1].scripts[ApiKey.LIST_OFFSETS] = lambda _: next(answers)
        brokers[2].scripts[ApiKey.LIST_OFFSETS] = lambda _: offset_answer(7)
        with cluster_of(brokers[1]) as cluster:
            assert latest_offsets(cluster, [HERE]) == {HERE: 7}
        (asked, *_) = brokers[1].requests(ApiKey.LIST_OFFSETS)
        assert asked.topics[0].partitions[0].current_leader_epoch == 3


def test_a_leader_that_hangs_up_is_looked_up_again() -> None:
    with two_brokers() as brokers:
        leads(brokers, (1, 3), (2, 4))
        brokers[1].scripts[ApiKey.LIST_OFFSETS] = lambda _: None
        brokers[2].scripts[ApiKey.LIST_OFFSETS] = lambda _: offset_answer(7)
        with cluster_of(brokers[1]) as cluster:
            assert latest_offsets(cluster, [HERE]) == {HERE: 7}


def test_a_permanent_error_is_raised_at_once() -> None:
    with two_brokers() as brokers:
        leads(brokers, (1, 3))
        brokers[1].scripts[ApiKey.LIST_OFFSETS] = lambda _: offset_answer(-1, 29)
        with (
            cluster_of(brokers[1]) as cluster,
            pytest.raises(KafkaError, match="ListOffsets of t-0: TOPIC_AUTHORIZATION_FAILED"),
        ):
            latest_offsets(cluster, [HERE])
        assert len(brokers[1].requests(ApiKey.LIST_OFFSETS)) == 1


def test_trouble_that_does_not_pass_ends_at_the_deadline_with_the_reason() -> None:
    with two_brokers() as brokers:
        leads(brokers, (1, 3))
        brokers[1].scripts[ApiKey.LIST_OFFSETS] = lambda _: offset_answer(-1, 6)
        with (
            cluster_of(brokers[1], default_api_timeout_ms=1_000) as cluster,
            pytest.raises(GaveUp, match=r"t-0: gave up .*NOT_LEADER_OR_FOLLOWER"),
        ):
            latest_offsets(cluster, [HERE])


def test_a_broker_that_is_down_is_passed_over_for_the_others() -> None:
    with ScriptedBroker() as gone:
        pass
    with ScriptedBroker() as alive:
        leads({1: alive}, (1, 0))
        for _ in range(5):
            with cluster_of(gone, alive) as cluster:
                assert cluster.list_topics() == ["t"]


def test_the_error_names_all_addresses_if_no_broker_can_be_reached() -> None:
    text = ",".join(f"127.0.0.1:{port}" for port in non_ephemeral_ports(2))
    settings = ClientSettings(text, default_api_timeout_ms=500, retry_backoff_ms=1)
    with Cluster(settings) as cluster, pytest.raises(Unreachable) as caught:
        cluster.list_topics()
    assert sorted(caught.value.addresses) == sorted(text.split(","))


def test_a_topic_that_stays_unknown_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.client.cluster.cluster.UNKNOWN_TOPIC_MS", 20)
    with ScriptedBroker() as broker:
        unknown = metadata({1: broker}, 1)
        unknown.topics = [MetadataResponseTopic(3, "t")]
        broker.scripts[ApiKey.METADATA] = lambda _: unknown
        with cluster_of(broker) as cluster:
            assert cluster.describe_topics(["t"]) == {}
            with pytest.raises(UnknownTopic, match=r"t: .*topic does not exist"):
                latest_offsets(cluster, [HERE])


def test_a_topic_is_never_created_by_asking_for_it() -> None:
    with ScriptedBroker() as broker:
        leads({1: broker}, (1, 0))
        with cluster_of(broker) as cluster:
            cluster.describe_topics(["t"])
        (asked,) = broker.requests(ApiKey.METADATA)
        assert asked.allow_auto_topic_creation is False


def coordinator(broker_id: int, broker: ScriptedBroker, code: int = 0) -> FindCoordinatorResponse:
    found = Coordinator("g", broker_id, "127.0.0.1", broker.port, code)
    return FindCoordinatorResponse(coordinators=[found])


def commit_answer(code: int = 0) -> OffsetCommitResponse:
    part = OffsetCommitResponsePartition(0, code)
    return OffsetCommitResponse(0, [OffsetCommitResponseTopic("t", partitions=[part])])


@pytest.mark.parametrize("code", [14, 15, 16])
def test_a_coordinator_that_moved_or_loads_is_asked_again(code: int) -> None:
    with two_brokers() as brokers:
        leads(brokers, (1, 0))
        places = iter([coordinator(1, brokers[1]), *[coordinator(2, brokers[2])] * 9])
        brokers[1].scripts[ApiKey.FIND_COORDINATOR] = lambda _: next(places)
        answers = iter([commit_answer(code), commit_answer()])
        brokers[1].scripts[ApiKey.OFFSET_COMMIT] = lambda _: next(answers)
        brokers[2].scripts[ApiKey.OFFSET_COMMIT] = lambda _: commit_answer()
        brokers[2].scripts[ApiKey.FIND_COORDINATOR] = lambda _: next(places)
        with cluster_of(brokers[1]) as cluster:
            commit_offsets(cluster, "g", {HERE: 5})
        (asked, *_) = brokers[1].requests(ApiKey.OFFSET_COMMIT)
        assert (asked.generation_id_or_member_epoch, asked.member_id) == (-1, "")


def test_a_coordinator_that_is_not_there_yet_is_waited_for() -> None:
    with ScriptedBroker() as broker:
        places = iter([coordinator(-1, broker, 15), coordinator(1, broker)])
        broker.scripts[ApiKey.FIND_COORDINATOR] = lambda _: next(places)
        broker.scripts[ApiKey.INIT_PRODUCER_ID] = lambda _: InitProducerIdResponse(0, 0, 4, 2)
        with cluster_of(broker) as cluster:
            assert init_producer_id(cluster, "g") == (4, 2)
        assert broker.requests(ApiKey.INIT_PRODUCER_ID)[0].transactional_id == "g"


def test_brokers_of_old_are_asked_in_their_own_forms() -> None:
    old = {**VERSIONS, ApiKey.FIND_COORDINATOR: (0, 2), ApiKey.OFFSET_FETCH: (1, 6)}
    with ScriptedBroker(versions=old) as broker:
        broker.scripts[ApiKey.FIND_COORDINATOR] = lambda _: FindCoordinatorResponse(
            node_id=1, host="127.0.0.1", port=broker.port
        )
        part = OffsetFetchResponsePartition(0, 42, -1, "", 0)
        broker.scripts[ApiKey.OFFSET_FETCH] = lambda _: OffsetFetchResponse(
            topics=[OffsetFetchResponseTopic("t", [part])]
        )
        with cluster_of(broker) as cluster:
            assert committed_offsets(cluster, "g", [HERE])[HERE].offset == 42
        assert broker.requests(ApiKey.FIND_COORDINATOR)[0].key == "g"
