"""Produce, Fetch, ListOffsets and the other requests about partitions, sent to each of the brokers:
to the leader, and to those that are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.cluster_session import BROKERS, ClusterSession
from tests.compatibility.differential.scripting import cluster_script
from tests.compatibility.differential.scripts import (
    delete_records,
    fetch,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)
from tests.compatibility.differential.scripts.transactional import (
    Producer,
    add_offsets,
    add_partitions,
    commit_offsets,
    end,
    init,
    write,
)
from tests.compatibility.differential.session import Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

ALL = (0, 1, 2)


def filled(session: ClusterSession) -> Topic:
    topic = session.placed("t", [1], [2], [3])
    for partition, broker_id in enumerate(BROKERS):
        with session.at(broker_id):
            session.append(topic, batch(b"a", b"b"), partition)
    return topic


def asked_everywhere(
    session: ClusterSession, topic: Topic, request_of: Callable[[tuple[int, ...]], Message]
) -> Iterator[None]:
    """About each partition alone, and about all of them; then without the third broker."""
    for partition in ALL:
        session.everywhere(f"partition {partition}", request_of((partition,)))
    session.everywhere("all", request_of(ALL))
    yield
    session.await_topic(topic.name, [1, 2, -1])
    session.everywhere("all, 3 stopped", request_of(ALL))


@cluster_script(ApiKey.PRODUCE)
def produce_anywhere(session: ClusterSession) -> Iterator[None]:
    topic = filled(session)
    yield from asked_everywhere(
        session, topic, lambda at: produce.produce(topic, *((each, batch(b"c")) for each in at))
    )


@cluster_script(ApiKey.FETCH)
def fetch_anywhere(session: ClusterSession) -> Iterator[None]:
    topic = filled(session)
    yield from asked_everywhere(
        session, topic, lambda at: fetch.fetch(topic, *(fetch.wanted(each) for each in at))
    )


@cluster_script(ApiKey.LIST_OFFSETS)
def list_offsets_anywhere(session: ClusterSession) -> Iterator[None]:
    topic = filled(session)
    yield from asked_everywhere(
        session,
        topic,
        lambda at: list_offsets.question(topic.name, *((each, -1, -1) for each in at)),
    )


@cluster_script(ApiKey.OFFSET_FOR_LEADER_EPOCH)
def offset_for_leader_epoch_anywhere(session: ClusterSession) -> Iterator[None]:
    topic = filled(session)
    yield from asked_everywhere(
        session,
        topic,
        lambda at: offset_for_leader_epoch.question(topic.name, *((each, -1, 0) for each in at)),
    )


@cluster_script(ApiKey.DELETE_RECORDS)
def delete_records_anywhere(session: ClusterSession) -> Iterator[None]:
    topic = filled(session)
    yield from asked_everywhere(
        session, topic, lambda at: delete_records.delete(topic.name, *((each, 1) for each in at))
    )


@cluster_script(ApiKey.DESCRIBE_PRODUCERS)
def describe_producers_anywhere(session: ClusterSession) -> Iterator[None]:
    topic = filled(session)
    yield from asked_everywhere(
        session, topic, lambda at: DescribeProducersRequest([TopicRequest(topic.name, at)])
    )


@cluster_script(ApiKey.WRITE_TXN_MARKERS)
def write_txn_markers_anywhere(session: ClusterSession) -> None:
    topic = filled(session)
    places = [WritableTxnMarkerTopic(topic.name, ALL)]
    for number, broker_id in enumerate(BROKERS):
        marker = WritableTxnMarker(10**9 + number, 0, True, places, 0)
        with session.at(broker_id):
            session.ask(f"all, at {broker_id}", WriteTxnMarkersRequest([marker]))


@cluster_script(ApiKey.END_TXN)
def transactions_over_brokers(session: ClusterSession) -> None:
    """Partitions on all brokers, a group on each, coordinated by each of them in turn."""
    topic = session.placed("t", [1], [2], [3])
    group = session.group_on(2, "g")
    for coordinator in BROKERS:
        for is_commit in (True, False):
            one_transaction(session, topic, group, coordinator, is_commit=is_commit)


def one_transaction(
    session: ClusterSession, topic: Topic, group: str, coordinator: int, *, is_commit: bool
) -> None:
    label = f"coordinated by {coordinator}, {'committed' if is_commit else 'aborted'}"
    key = session.transaction_on(coordinator, f"p-{coordinator}-{is_commit}")
    with session.at(coordinator):
        made = session.once_ready(init(key), 4)
        session.names.define("producer", made.producer_id, label)
        producer = Producer(key, made.producer_id, made.producer_epoch)
        session.ask(f"{label}: partitions", add_partitions(producer, (topic.name, ALL), version=3),
                    version=3)  # fmt: skip
        session.ask(f"{label}: group", add_offsets(producer, group), version=3)
    for partition, broker_id in enumerate(BROKERS):
        with session.at(broker_id):
            session.ask(f"{label}: records {partition}", write(producer, topic, partition, 0),
                        version=11)  # fmt: skip
    with session.at(2):
        offset = 10 * coordinator + is_commit
        request = commit_offsets(producer, group, (topic.name, [(0, offset, -1, "")]))
        session.ask(f"{label}: offsets", request, version=3)
    with session.at(coordinator):
        session.ask(f"{label}: ended", end(producer, is_commit=is_commit))
        session.until(
            DescribeTransactionsRequest([key]),
            0,
            lambda answer: answer.transaction_states[0].transaction_state.startswith("Complete"),
            "the end of a transaction",
        )
    for partition, broker_id in enumerate(BROKERS):
        with session.at(broker_id):
            wanted = fetch.fetch(topic, fetch.wanted(partition), isolation=1)
            session.ask(f"{label}: read {partition}", wanted, version=11)
