"""Transactional producers: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn."""

from __future__ import annotations

from copy import copy
from typing import Any

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.delete_records import delete
from tests.compatibility.differential.scripts.list_offsets import question
from tests.compatibility.differential.scripts.transactional import (
    READ_COMMITTED,
    SEVERAL_FROM,
    TIMEOUT_MS,
    Places,
    Producer,
    add_offsets,
    add_partitions,
    await_end,
    described,
    end,
    enlist,
    enlisting,
    finish,
    init,
    new_producer,
    store,
    stored,
    write,
)
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.list_offsets_request import ListOffsetsRequest

EXPECTING_FROM = 3  # versions of InitProducerId in which a producer says who it was
BUMPING_FROM = 5  # versions of EndTxn that give the producer a new epoch
EPOCH_MAX = 32767
STRANGE_IDS = ("", " ", "a b/c\n", "x" * 1000, "é", ".")


@script(ApiKey.INIT_PRODUCER_ID)
def init_producer_id_of_transactions(session: Session) -> None:
    name = session.name("t")
    session.ask("new", init(name))
    session.ask("again", init(name))
    for timeout_ms in (0, -1, 1, 900_000, 900_001, 2**31 - 1, -(2**31)):
        session.ask(f"timeout {timeout_ms}", init(name, timeout_ms))
        session.ask(
            f"timeout {timeout_ms}, new", init(session.name(f"timeout{timeout_ms}"), timeout_ms)
        )
    for strange in STRANGE_IDS:
        label = f"transactional id {strange[:20]!r} of {len(strange)}"
        session.ask(label, init(strange), shown=without_epoch)
    session.ask("null transactional id", init(None))
    opened = new_producer(session, "open")
    topic = session.topic("topic")
    enlist(session, opened, (topic.name, [0]))
    store(session, opened, topic)
    session.ask("open", init(opened.transactional_id))
    await_end(session, opened)
    described(session, "open: aborted", opened)
    session.ask("aborted", init(opened.transactional_id))
    described(session, "aborted: described", opened)
    finished = new_producer(session, "finished")
    enlist(session, finished, (topic.name, [0]))
    finish(session, finished, is_commit=True)
    session.ask("committed", init(finished.transactional_id))
    described(session, "committed: described", finished)
    stored(session, "what was stored", topic)


def without_epoch(answer: Any) -> Any:
    """Ids that cannot be unique to this run may have been used before."""
    out = copy(answer)
    if answer.producer_id != -1:
        out.producer_id, out.producer_epoch = -1, 0
    return out


@script(ApiKey.INIT_PRODUCER_ID, versions=range(EXPECTING_FROM, 6))
def init_producer_id_of_somebody_known(session: Session) -> None:
    """Producers that name the id and epoch they had (KIP-360)."""

    def ask(label: str, producer: Producer, number: int, epoch: int) -> None:
        request = InitProducerIdRequest(producer.transactional_id, TIMEOUT_MS, number, epoch)
        session.ask(label, request)

    one = new_producer(session, "one")
    ask("goes on", one, one.id, 0)
    ask("goes on, asked again", one, one.id, 0)
    ask("goes on once more", one, one.id, 1)
    ask("older", one, one.id, 0)
    ask("newer", one, one.id, 9)
    ask("somebody else", one, one.id + 100_000, 2)
    for number, epoch in ((one.id, -1), (-1, 0), (one.id, -2), (-2, 2), (one.id, EPOCH_MAX)):
        ask(f"id {'own' if number == one.id else number}, epoch {epoch}", one, number, epoch)
    session.ask("nobody in particular", init(one.transactional_id))
    ask("fenced", one, one.id, 2)
    described(session, "described", one)
    unknown = Producer(session.name("unknown"), 0, 0)
    ask("unknown", unknown, one.id + 100_000, 5)
    topic = session.topic("topic")
    opened = new_producer(session, "open")
    enlist(session, opened, (topic.name, [0]))
    ask("open, somebody else", opened, opened.id + 100_000, 0)
    described(session, "open: described", opened)
    ask("open", opened, opened.id, 0)
    await_end(session, opened)
    ask("aborted", opened, opened.id, 0)
    ask("aborted, asked again", opened, opened.id, 0)
    described(session, "aborted: described", opened)
    other = new_producer(session, "other")
    enlist(session, other, (topic.name, [0]))
    ask("open, newer", other, other.id, 1)
    await_end(session, other)
    described(session, "open, newer: described", other)
    ask("open, newer: afterwards", other, other.id, 1)


@script(ApiKey.ADD_PARTITIONS_TO_TXN)
def add_partitions_to_txn(session: Session) -> None:
    topic, other, none = (
        session.topic("t", 3).name,
        session.topic("other").name,
        session.name("none"),
    )
    one = new_producer(session, "one")

    def ask(label: str, producer: Producer, *places: Places) -> None:
        session.ask(label, add_partitions(producer, *places, version=session.version))

    ask("unknown transactional id", Producer(session.name("unknown"), one.id, 0), (topic, [0]))
    ask("empty transactional id", Producer("", one.id, 0), (topic, [0]))
    ask("somebody else", one._replace(id=one.id + 100_000), (topic, [0]))
    ask("nobody", one._replace(id=-1, epoch=-1), (topic, [0]))
    for epoch in (1, -1, EPOCH_MAX):
        ask(f"epoch {epoch}", one._replace(epoch=epoch), (topic, [0]))
    ask("unknown topic", one, (none, [0]))
    ask("unknown partition", one, (topic, [3]), (other, [-1]))
    ask("good and bad", one, (topic, [0, 9]), (none, [0]), (other, [0]))
    for name in ("", ".", "a b", "__consumer_offsets", "__transaction_state"):
        ask(f"topic {name!r}", one, (name, [0]))
    ask("internal and good", one, ("__consumer_offsets", [0]), (topic, [0]))
    described(session, "before", one)
    ask("nothing", one)
    ask("no partitions", one, (topic, []))
    described(session, "after nothing", one)
    ask("one", one, (topic, [0]))
    ask("one again", one, (topic, [0]))
    ask("several", one, (topic, [2, 1]), (other, [0]))
    ask("a partition twice", one, (topic, [0, 0]))
    ask("a topic twice", one, (topic, [0]), (topic, [0]))
    ask("a topic in two parts", one, (topic, [0]), (topic, [1]))
    ask("open, newer epoch", one._replace(epoch=1), (topic, [0]))
    described(session, "open", one)
    finish(session, one, is_commit=True)
    ask("next transaction", one, (topic, [0]))
    described(session, "next transaction: described", one)
    finish(session, one, is_commit=False)
    described(session, "aborted", one)
    fenced = new_producer(session, "one")
    ask("fenced", one, (topic, [0]))
    ask("whoever fenced it", fenced, (topic, [0]))


@script(ApiKey.ADD_PARTITIONS_TO_TXN, versions=range(SEVERAL_FROM, 6))
def add_partitions_to_several_txns(session: Session) -> None:
    """What leaders ask of coordinators: also whether a partition takes part."""
    topic, none = session.topic("t", 3).name, session.name("none")
    one, two = new_producer(session, "one"), new_producer(session, "two")

    def ask(label: str, *parts: object) -> None:
        session.ask(label, AddPartitionsToTxnRequest(parts))  # type: ignore[arg-type]

    def check(label: str, producer: Producer, *places: Places) -> None:
        ask(label, enlisting(producer, *places, verify=True))

    check("nothing enlisted", one, (topic, [0]))
    # No transactions at all are not asked: Kafka never answers them.
    ask("two transactions", enlisting(one, (topic, [0])), enlisting(two, (topic, [1])))
    check("enlisted", one, (topic, [0]))
    check("not enlisted", one, (topic, [1]))
    check("some", one, (topic, [0, 1, 2]))
    check("unknown partition", one, (topic, [0, 9]))
    check("unknown topic", one, (none, [0]))
    check("nothing", one)
    check("no partitions", one, (topic, []))
    check("internal topic", one, ("__consumer_offsets", [0]))
    check("unknown transactional id", Producer(session.name("none"), one.id, 0), (topic, [0]))
    check("somebody else", one._replace(id=two.id), (topic, [0]))
    for epoch in (1, -1):
        check(f"epoch {epoch}", one._replace(epoch=epoch), (topic, [0]))
    ask("a transaction twice", enlisting(one, (topic, [0])), enlisting(one, (topic, [2])))
    both = enlisting(one, (topic, [0]), verify=True), enlisting(two, (topic, [2]))
    ask("one checked, one enlisted", *both)
    bad = enlisting(two._replace(epoch=5), (topic, [0])), enlisting(one, (topic, [1]))
    ask("good and bad", *bad)
    described(session, "described", one, two)
    finish(session, one, is_commit=True)
    check("ended", one, (topic, [0]))


@script(ApiKey.ADD_OFFSETS_TO_TXN)
def add_offsets_to_txn(session: Session) -> None:
    group = session.name("g")
    one = new_producer(session, "one")

    def ask(label: str, producer: Producer, group_id: str = group) -> None:
        session.ask(label, add_offsets(producer, group_id))

    ask("unknown transactional id", Producer(session.name("unknown"), one.id, 0))
    ask("empty transactional id", Producer("", one.id, 0))
    ask("somebody else", one._replace(id=one.id + 100_000))
    ask("nobody", one._replace(id=-1, epoch=-1))
    for epoch in (1, -1, EPOCH_MAX):
        ask(f"epoch {epoch}", one._replace(epoch=epoch))
    described(session, "before", one)
    ask("a group", one)
    described(session, "a group: described", one)
    ask("the group again", one)
    for strange in STRANGE_IDS:
        ask(f"group {strange[:20]!r} of {len(strange)}", one, strange)
    finish(session, one, is_commit=True)
    ask("next transaction", one)
    described(session, "next transaction: described", one)
    finish(session, one, is_commit=False)
    new_producer(session, "one")
    ask("fenced", one)


@script(ApiKey.END_TXN)
def end_txn(session: Session) -> None:
    topic = session.topic("t", 2)
    places = (topic.name, [0, 1])
    one = new_producer(session, "one")
    sequences = [0]

    def ask(label: str, producer: Producer, *, is_commit: bool) -> Producer:
        """As whom it continues."""
        answer = session.ask(label, end(producer, is_commit=is_commit))
        if answer.error_code == 0:
            await_end(session, producer)
        described(session, f"{label}: described", producer)
        if session.version < BUMPING_FROM or answer.error_code:
            return producer
        sequences[0] = 0
        return producer._replace(id=answer.producer_id, epoch=answer.producer_epoch)

    def begin(producer: Producer) -> None:
        enlist(session, producer, places)
        store(session, producer, topic, 0, sequences[0])
        sequences[0] += 1

    for is_commit in (True, False):
        wish = "commit" if is_commit else "abort"
        stranger = Producer(session.name("unknown"), one.id, 0)
        ask(f"{wish}, unknown transactional id", stranger, is_commit=is_commit)
        ask(f"{wish}, empty transactional id", Producer("", one.id, 0), is_commit=is_commit)
        one = ask(f"{wish} without a transaction", one, is_commit=is_commit)
        begin(one)
        for epoch in (one.epoch + 1, -1, EPOCH_MAX):
            label = f"{wish}, epoch {epoch - one.epoch if epoch == one.epoch + 1 else epoch}"
            ask(label, one._replace(epoch=epoch), is_commit=is_commit)
        ask(f"{wish}, somebody else", one._replace(id=one.id + 100_000), is_commit=is_commit)
        ask(f"{wish}, nobody", one._replace(id=-1, epoch=-1), is_commit=is_commit)
        before = one
        one = ask(wish, one, is_commit=is_commit)
        ask(f"{wish} again", before, is_commit=is_commit)
        ask(f"{wish}, then the opposite", before, is_commit=not is_commit)
        begin(one)
        one = ask(f"the opposite after {wish}", one, is_commit=not is_commit)
    begin(one)
    session.ask("somebody new", init(one.transactional_id), version=4)
    await_end(session, one)
    ask("fenced", one, is_commit=True)
    described(session, "in the end", one)
    stored(session, "what was stored", topic, 0)
    stored(session, "what was stored in the other", topic, 1)


@script(ApiKey.PRODUCE)
def produce_transactionally(session: Session) -> None:
    topic = session.topic("t", 3)
    one = new_producer(session, "one")
    grows = session.version >= 12  # the transaction with what is written

    def ask(label: str, producer: Producer, partition: int, sequence: int, **more: bool) -> None:
        session.ask(label, write(producer, topic, partition, sequence, **more))

    strange = write(one, topic, 2, 0)
    strange.acks = 2
    session.ask("acks 2", strange)
    described(session, "acks 2: described", one)
    twice = write(one, topic, 1, 0)
    part = twice.topic_data[0].partition_data[0]
    assert part.records is not None
    part.records = bytes(part.records) * 2
    session.ask("two batches", twice)
    described(session, "two batches: described", one)
    if not grows:
        ask("not enlisted", one, 1, 0)
        enlist(session, one, (topic.name, [0, 1]))
    ask("first", one, 0, 0)
    ask("first again", one, 0, 0)
    ask("second", one, 0, 1)
    ask("a gap", one, 0, 9)
    ask("other partition", one, 1, 0)
    ask("newer epoch", one._replace(epoch=5), 0, 0)
    ask("other transactional id", one._replace(transactional_id=session.name("x")), 2, 0)
    ask("somebody else", one._replace(id=one.id + 100_000), 2, 0)
    ask("not transactional", one, 0, 2, is_transactional=False)
    described(session, "open", one)
    stored(session, "open", topic)
    finish(session, one, is_commit=True)
    stored(session, "committed", topic)
    if not grows:
        ask("after the end", one, 0, 2)
        enlist(session, one, (topic.name, [0]))
    ask("next transaction", one, 0, 2)
    finish(session, one, is_commit=False)
    stored(session, "aborted", topic)
    two = new_producer(session, "two")
    enlist(session, two, (topic.name, [0]))
    store(session, two, topic, 0)
    session.quietly(delete(topic.name, (0, -1)), 2)
    stored(session, "open, and deleted", topic)
    session.ask("open, and deleted: latest", latest_committed(topic.name), version=5)
    new_producer(session, "one")
    ask("fenced", one, 0, 3)
    described(session, "fenced: described", one)


def latest_committed(topic: str) -> ListOffsetsRequest:
    return question(topic, (0, -1, -1), isolation=READ_COMMITTED)
