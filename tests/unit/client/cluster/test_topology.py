"""What a client knows of a cluster, and how that changes."""

from __future__ import annotations

from ottla.base.ids import TopicPartition
from ottla.client.cluster.topology import Leader, Topology, by_leader, by_topic
from ottla.config.addresses import Address
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

HERE = TopicPartition("t", 0)


def answer(
    leader: int, epoch: int, topic_id: bytes = b"1" * 16, error: int = 0
) -> MetadataResponse:
    partition = MetadataResponsePartition(0, 0, leader, epoch, [1, 2], [1])
    return MetadataResponse(
        brokers=[MetadataResponseBroker(1, "a", 1), MetadataResponseBroker(2, "b", 2)],
        controller_id=1,
        topics=[MetadataResponseTopic(error, "t", topic_id, partitions=[partition])],
    )


def topology(leader: int = 1, epoch: int = 5) -> Topology:
    known = Topology()
    known.learn(answer(leader, epoch))
    return known


def test_a_leader_of_an_older_epoch_is_ignored() -> None:
    known = topology()
    known.learn(answer(2, 4))
    assert known.leaders[HERE] == Leader(1, 5)
    known.learn(answer(2, 6))
    assert known.leaders[HERE] == Leader(2, 6)


def test_a_forgotten_leader_is_found_again_by_the_same_epoch_but_not_by_an_older_one() -> None:
    known = topology()
    known.forget_leader(HERE)
    known.learn(answer(2, 4))
    assert known.leaders[HERE].broker_id == -1
    known.learn(answer(1, 5))
    assert known.leaders[HERE] == Leader(1, 5)


def test_epochs_of_a_topic_that_is_gone_do_not_count_for_the_next_of_its_name() -> None:
    known = topology()
    known.learn(answer(2, 0, topic_id=b"2" * 16))
    assert known.leaders[HERE] == Leader(2, 0)


def test_a_topic_that_could_not_be_described_is_removed_and_reported() -> None:
    known = topology()
    assert known.learn(answer(1, 5, error=3)) == {"t": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert not known.topics
    assert not known.leaders


def test_a_hint_counts_if_it_is_newer_and_leads_somewhere() -> None:
    known = topology()
    assert not known.note_hint(HERE, Leader(2, 5), {})
    assert not known.note_hint(HERE, Leader(9, 6), {})
    assert not known.note_hint(HERE, Leader(-1, -1), {})
    assert known.note_hint(HERE, Leader(9, 6), {9: Address("new", 9)})
    assert known.leaders[HERE] == Leader(9, 6)
    assert known.brokers[9] == Address("new", 9)


def test_an_answer_without_brokers_does_not_make_us_forget_them() -> None:
    known = topology()
    known.learn(MetadataResponse())
    assert known.brokers.keys() == {1, 2}


def test_requests_are_shared_out_by_leader() -> None:
    leaders = {
        HERE: Leader(1, 0),
        TopicPartition("t", 1): Leader(2, 0),
        TopicPartition("u", 0): Leader(1, 0),
        TopicPartition("u", 1): Leader(-1, 3),
    }
    wanted = {at: str(at) for at in [*leaders, TopicPartition("v", 0)]}
    shares, without_leader = by_leader(wanted, leaders)
    assert shares == {
        1: {HERE: "t-0", TopicPartition("u", 0): "u-0"},
        2: {TopicPartition("t", 1): "t-1"},
    }
    assert without_leader == [TopicPartition("u", 1), TopicPartition("v", 0)]
    assert by_topic(leaders) == {"t": [0, 1], "u": [0, 1]}


def test_partitions_are_known_by_their_numbers() -> None:
    known = Topology()
    partitions = [MetadataResponsePartition(0, number, 1, 5, [1], [1]) for number in (4, 0, 2)]
    known.learn(MetadataResponse(topics=[MetadataResponseTopic(0, "t", partitions=partitions)]))
    there = [number for number in range(-1, 7) if known.has_partition(TopicPartition("t", number))]
    assert there == [0, 2, 4]
    assert not known.has_partition(TopicPartition("other", 0))
