"""What random requests of transactions use: producers as one broker knows them, and requests.

Owns      who the producers are, what they have sent, and how a step is asked of a broker.
Promises  a step contains no ids: the id of a producer and what it has sent are taken from the
          answers of the broker that is asked, so that the same steps mean the same on every broker.
Leaves    which steps there are to `transactions.py`, requests to the scripts' own functions.
"""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from tests.compatibility.differential.batches import batch, changed_blindly
from tests.compatibility.differential.plain import is_of_the_clock
from tests.compatibility.differential.scripts.transactional import (
    Producer,
    add_offsets,
    add_partitions,
    await_end,
    commit_offsets,
    end,
    enlisting,
)
from tests.compatibility.differential.session import Topic
from tests.compatibility.random_requests.step_client import StepClient
from tests.support.waiting import wait_until

from ottla.protocol.message import Message
from ottla.protocol.messages.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.list_transactions_request import ListTransactionsRequest
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.write_txn_markers_request import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

# Who there is: the first two are two processes with one transactional id, the last has none.
SLOTS = {"a": "A", "a'": "A", "b": "B", "plain": None}
PLACES = (("t", 0), ("t", 1), ("u", 0))
GROUPS = ("g", "h")
STRANGER = 1 << 40  # no broker gives out so many ids
GROWING_FROM = 12  # versions of Produce with which a transaction grows
BUMPING_FROM = 5  # versions of EndTxn that give a new epoch
# Kafka begins a new segment for a batch that it then refuses, if the last one is old enough.
NEVER_ROLLED = {"segment.ms": str(10**15)}
Place = tuple[str, int]
WAIT_MS = 1500


@dataclass(frozen=True)
class Step:
    """One request; `version` is of its API, `who` is a slot."""

    kind: str
    version: int = 0
    who: str = "a"
    as_whom: str = "itself"
    places: tuple[Place, ...] = ()
    details: tuple[tuple[str, Any], ...] = ()

    def __getitem__(self, name: str) -> Any:
        return dict(self.details).get(name)

    def execute(self, model: TransactionsModel) -> None:
        asking = getattr(model, f"ask_{self.kind.replace(' ', '_')}")
        asking(self)

    def __repr__(self) -> str:
        words = [f"{self.kind} v{self.version} of {self.who}"]
        words += [f"as {self.as_whom}"] if self.as_whom != "itself" else []
        words += [f"{topic}-{index}" for topic, index in self.places]
        words += [f"{name}={value}" for name, value in self.details]
        return " ".join(words)


@dataclass
class Slot:
    """A producer as it sees itself on one broker."""

    producer: Producer
    sequences: dict[Place, int] = field(default_factory=dict)  # the next ones
    last: dict[Place, tuple[int, int]] = field(default_factory=dict)  # first sequence, count

    def become(self, number: int, epoch: int) -> None:
        if (number, epoch) != self.producer[1:]:
            self.producer = self.producer._replace(id=number, epoch=epoch)
            self.sequences = {}


class TransactionsModel:
    """What one broker has answered in one sequence."""

    def __init__(self, client: StepClient) -> None:
        self.client, self.session = client, client.session
        session = client.session
        self.topics = {
            "t": session.topic("t", 2, NEVER_ROLLED),
            "u": session.topic("u", 1, NEVER_ROLLED),
            "none": Topic(session.name("none"), b"0123456789abcdef"),
            "__consumer_offsets": Topic("__consumer_offsets", bytes(16)),
        }
        # Whose partitions have seen a newer epoch than coordinators have: they refuse the markers
        # of its transactions, which therefore never end.
        self.fetch_session = (0, 0)  # number and next epoch
        self.poisoned: set[str | None] = set()
        self.slots = {
            slot: Slot(Producer(session.name(name) if name else "", -1, -1))
            for slot, name in SLOTS.items()
        }

    def after_step(self) -> None: ...

    def whom(self, step: Step) -> Producer:
        own = self.slots[step.who].producer
        other = self.slots["a" if step.who == "b" else "b"].producer
        return {
            "itself": own,
            "anybody": own._replace(id=-1, epoch=-1),
            "older": own._replace(epoch=max(own.epoch - 1, 0 if step.kind == "write" else -1)),
            "newer": own._replace(epoch=own.epoch + 1),
            "epoch -1": own._replace(epoch=-1),
            "stranger": own._replace(id=own.id + STRANGER),
            "nobody": own._replace(id=-1, epoch=-1),
            "the other's id": own._replace(id=other.id),
            "unknown id": own._replace(transactional_id=self.session.name("unknown")),
            "": own._replace(transactional_id=""),
        }[step.as_whom]

    def by_topic(self, step: Step) -> list[tuple[Topic, list[int]]]:
        found: dict[str, list[int]] = {}
        for topic, index in step.places:
            found.setdefault(topic, []).append(index)
        return [(self.topics[topic], indexes) for topic, indexes in found.items()]

    def names_of(self, step: Step) -> list[tuple[str, list[int]]]:
        return [(topic.name, indexes) for topic, indexes in self.by_topic(step)]

    def ask(self, step: Step, request: Message, **more: Any) -> Any:
        return self.client.ask(request, step.version, **more)

    # Producers and their transactions

    def ask_init(self, step: Step) -> None:
        slot, whom = self.slots[step.who], self.whom(step)
        if SLOTS[step.who] in self.poisoned:
            return
        transactional_id = whom.transactional_id or None
        request = InitProducerIdRequest(transactional_id, step["timeout_ms"], whom.id, whom.epoch)
        answer = self.ask(step, request)
        if answer is not None and answer.error_code == 0:
            slot.become(answer.producer_id, answer.producer_epoch)
        self.await_end(slot)

    def await_end(self, slot: Slot) -> None:
        if slot.producer.transactional_id:
            await_end(self.session, slot.producer)

    def ask_add(self, step: Step) -> None:
        request = add_partitions(self.whom(step), *self.names_of(step), version=step.version)
        self.ask(step, request)

    def ask_verify(self, step: Step) -> None:
        part = enlisting(self.whom(step), *self.names_of(step), verify=True)
        self.ask(step, AddPartitionsToTxnRequest([part]))

    def ask_several(self, step: Step) -> None:
        one = enlisting(self.whom(step), *self.names_of(step))
        other = self.slots[step["and"]].producer
        two = enlisting(other, *self.names_of(step), verify=step["verify"])
        self.ask(step, AddPartitionsToTxnRequest([one, two]))

    def ask_add_offsets(self, step: Step) -> None:
        request = add_offsets(self.whom(step), self.session.name(step["group"]))
        self.ask(step, request)

    def ask_commit_offsets(self, step: Step) -> None:
        chosen = [
            (topic, [(index, step["offset"], -1, "") for index in indexes])
            for topic, indexes in self.names_of(step)
        ]
        generation, member = step["generation"], step["member"]
        request = commit_offsets(
            self.whom(step),
            self.session.name(step["group"]),
            *chosen,
            generation=-1 if generation is None else generation,
            member=member or "",
        )
        self.ask(step, request)

    def ask_end(self, step: Step) -> None:
        slot = self.slots[step.who]
        if SLOTS[step.who] in self.poisoned:
            return
        answer = self.ask(step, end(self.whom(step), is_commit=step["commit"]))
        if answer.error_code == 0 and step.version >= BUMPING_FROM:
            slot.become(answer.producer_id, answer.producer_epoch)
        self.await_end(slot)

    def ask_markers(self, step: Step) -> None:
        whom = self.whom(step)  # never a negative one: that has a name here and none in Kafka
        whom = whom._replace(id=max(whom.id, 0), epoch=max(whom.epoch, 0))
        topics = [WritableTxnMarkerTopic(*each) for each in self.names_of(step)]
        level = step["level"] if step.version >= 2 else 0
        marker = WritableTxnMarker(
            whom.id, whom.epoch, step["commit"], topics, step["coordinator"], level
        )
        self.ask(step, WriteTxnMarkersRequest([marker]))
        if step.as_whom == "newer" or step["coordinator"] > 0:
            self.poisoned.add(SLOTS[step.who])

    # Records

    def ask_write(self, step: Step) -> None:
        whom, count, acks = self.whom(step), step["count"] or 1, step["acks"]
        is_transactional = step["transactional"]
        if is_transactional is None:
            is_transactional = bool(whom.transactional_id)
        if (
            min(whom.id, whom.epoch) < 0
        ):  # a batch without a producer cannot be transactional here; in Kafka it can
            whom, is_transactional = whom._replace(id=-1, epoch=-1), False
        is_named = is_transactional if step["named"] is None else step["named"]
        chosen = {place: self.sequence_of(step, place, count) for place in step.places}
        topics = []
        for name in dict.fromkeys(place[0] for place in chosen):
            parts = [
                PartitionProduceData(at[1], self.records(step, whom, is_transactional, *chosen[at]))
                for at in chosen
                if at[0] == name
            ]
            topics.append(TopicProduceData(self.topics[name].name, self.topics[name].id, parts))
        transactional_id = whom.transactional_id if is_named else None
        request = ProduceRequest(transactional_id, -1 if acks is None else acks, 30_000, topics)
        asking = self.client.ask_silently if acks == 0 else self.client.ask
        answer = asking(request, step.version)
        for place in self.stored_places(step, answer):
            first, size = chosen[place]
            slot = self.slots[step.who]
            slot.sequences[place], slot.last[place] = first + size, (first, size)

    def records(
        self, step: Step, whom: Producer, is_transactional: bool, first: int, count: int
    ) -> bytes | bytearray:
        data = batch(
            *[b"v"] * count,
            producer=(whom.id, whom.epoch, first if whom.id >= 0 else -1),
            is_transactional=is_transactional,
            is_control=step["wrong"] == "control",
            codec=step["codec"] or 0,
        )
        match step["wrong"]:
            case "checksum":
                return changed_blindly(data, crc=1)
            case "two batches":
                return data + data
        return data

    def sequence_of(self, step: Step, place: Place, count: int) -> tuple[int, int]:
        """First sequence, and how many records."""
        slot = self.slots[step.who]
        first = slot.sequences.get(place, 0)
        last = slot.last.get(place, (0, 1))
        match step["sequence"]:
            case "again":
                return last
            case "gap":
                return first + 3, count
            case "zero":
                return 0, count
            case "older":
                return max(last[0] - 1, 0), count
            case "longer":
                return last[0], last[1] + 1
            case "negative":
                return -1, count
            case "last of before":
                return last[0] + last[1], count
        return first, count

    def stored_places(self, step: Step, answer: Any) -> list[Place]:
        if answer is None:
            return (
                list(step.places)
                if next(reversed(self.session.answers.values())) == "no answer"
                else []
            )
        codes = {}
        for topic in answer.responses:
            short = next(
                name
                for name, each in self.topics.items()
                if topic.name == each.name or (step.version >= 13 and topic.topic_id == each.id)
            )
            for part in topic.partition_responses:
                codes[short, part.index] = part.error_code
        return [place for place in step.places if codes.get(place) == 0]

    # Looking

    def ask_producers(self, step: Step) -> None:
        request = DescribeProducersRequest([TopicRequest(*each) for each in self.names_of(step)])
        self.ask(step, request)

    def ask_describe(self, step: Step) -> None:
        request = DescribeTransactionsRequest([self.session.name("A"), self.session.name("B")])
        self.ask(step, request)

    def ask_list(self, step: Step) -> None:
        pattern = f"{self.session.name('')}{step['pattern']}" if step.version >= 2 else None
        request = ListTransactionsRequest(
            step["states"] or (),
            [self.slots[each].producer.id for each in step["producers"] or ()],
            -1,
            pattern,
        )
        self.ask(step, request, shown=self.own)

    def own(self, answer: Any) -> Any:
        out, prefix = copy(answer), self.session.name("")
        out.transaction_states = [
            each for each in answer.transaction_states if each.transactional_id.startswith(prefix)
        ]
        return out

    def ask_fetch(self, step: Step) -> None:
        topics = [
            FetchTopic(
                topic.name,
                topic.id,
                [FetchPartition(index, -1, step["offset"], -1, -1, 1 << 20) for index in indexes],
            )
            for topic, indexes in self.by_topic(step)
        ]
        request = FetchRequest(
            max_bytes=step["bytes"], isolation_level=step["isolation"], topics=topics
        )
        self.ask(step, request, shown=of_records)

    def ask_session(self, step: Step) -> None:
        """One session for readers of committed records; it begins with all places."""
        number, epoch = self.fetch_session
        places = step.places if number else PLACES
        topics = [
            FetchTopic(
                topic.name,
                topic.id,
                [FetchPartition(index, -1, step["offset"], -1, -1, 1 << 20) for index in indexes],
            )
            for topic, indexes in self.by_topic(replace(step, places=places))
        ]
        request = FetchRequest(
            max_bytes=step["bytes"],
            isolation_level=1,
            session_id=number,
            session_epoch=epoch,
            topics=topics if step["asks"] or not number else [],
        )
        answer = self.ask(step, request, shown=of_records)
        self.fetch_session = (answer.session_id, epoch + 1) if answer.error_code == 0 else (0, 0)

    def ask_waiting(self, step: Step) -> None:
        """A reader of committed records stands at their end while something happens."""
        ((topic, (index,)),) = self.by_topic(step)
        latest = ListOffsetsTopic(topic.name, [ListOffsetsPartition(index, -1, -1)])
        found = self.session.quietly(ListOffsetsRequest(-1, 1, [latest], 1000), 5)
        offset = found.topics[0].partitions[0].offset
        wanted = FetchPartition(index, -1, offset, -1, -1, 1 << 20)
        request = FetchRequest(
            max_wait_ms=WAIT_MS,
            min_bytes=1,
            isolation_level=1,
            topics=[FetchTopic(topic.name, topic.id, [wanted])],
        )
        self.client.send(request, step.version)
        step["then"].execute(self)
        wait_until(self.has_all_answers, "an answer")

    def has_all_answers(self) -> bool:
        self.client.collect()
        return not self.client.is_waiting

    def ask_offsets(self, step: Step) -> None:
        topics = [
            ListOffsetsTopic(
                topic, [ListOffsetsPartition(index, -1, step["time"]) for index in indexes]
            )
            for topic, indexes in self.names_of(step)
        ]
        request = ListOffsetsRequest(-1, step["isolation"], topics, 1000)
        self.ask(step, request, shown=without_clock)

    def ask_committed(self, step: Step) -> None:
        name = self.session.name(step["group"])
        if step.version >= 8:
            topics = [
                OffsetFetchRequestTopics(topic.name, topic.id, indexes)
                for topic, indexes in self.by_topic(step)
            ]
            group = OffsetFetchRequestGroup(name, None, -1, topics)
            request = OffsetFetchRequest(groups=[group], require_stable=step["stable"])
        else:
            old = [OffsetFetchRequestTopic(*each) for each in self.names_of(step)]
            request = OffsetFetchRequest(name, old, require_stable=step["stable"])
        self.ask(step, request)

    def ask_delete(self, step: Step) -> None:
        topics = [
            DeleteRecordsTopic(
                topic, [DeleteRecordsPartition(index, step["to"]) for index in indexes]
            )
            for topic, indexes in self.names_of(step)
        ]
        self.ask(step, DeleteRecordsRequest(topics, 10_000))


def of_records(answer: Any) -> Any:
    """Where there was no room for records Kafka names aborted transactions nevertheless."""
    out = copy(answer)
    out.responses = [copy(topic) for topic in answer.responses]
    for topic in out.responses:
        topic.partitions = [copy(part) for part in topic.partitions]
        for part in topic.partitions:
            if not part.records:
                part.aborted_transactions = ()
    return out


def without_clock(answer: Any) -> Any:
    """Markers have the time of the clock."""
    out = deepcopy(answer)
    for topic in out.topics:
        for part in topic.partitions:
            part.timestamp = 1 if is_of_the_clock(part.timestamp) else part.timestamp
    return out
