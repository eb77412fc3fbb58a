"""Walks through transactions: several producers, some of one transactional id, in random order.

Owns      what a step may ask (`draw`), and how it is asked of one broker (`Transactions`).
Promises  a step names nobody's ids: who a producer is and what it has sent is learnt from the
          answers of the broker that is asked, so that the same steps mean the same on every broker.
Leaves    playing, comparing and shrinking to `walk.py`, requests to the scripts' own functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.plain import is_of_the_clock
from tests.compatibility.differential.scripts.transactional import (
    TIMEOUT_MS,
    Producer,
    add_offsets,
    add_partitions,
    await_end,
    commit_offsets,
    end,
    enlisting,
)
from tests.compatibility.differential.talk import Topic
from tests.compatibility.walks.hand import Hand
from tests.compatibility.walks.walk import Area

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

    def play(self, world: Transactions) -> None:
        asking = getattr(world, f"ask_{self.kind.replace(' ', '_')}")
        asking(self)

    def __repr__(self) -> str:
        words = [f"{self.kind} v{self.version} of {self.who}"]
        words += [f"as {self.as_whom}"] if self.as_whom != "itself" else []
        words += [f"{topic}-{index}" for topic, index in self.places]
        words += [f"{name}={value}" for name, value in self.details]
        return " ".join(words)


# Which step


WEIGHTS = {
    "init": 8, "add": 10, "verify": 3, "several": 2, "add offsets": 5, "commit offsets": 6,
    "end": 14, "write": 30, "markers": 3, "producers": 4, "describe": 5, "list": 3, "fetch": 6,
    "offsets": 4, "committed": 4, "delete": 2,
}  # fmt: skip
WHOM = ("older", "newer", "epoch -1", "stranger", "nobody", "the other's id", "unknown id", "")


def draw(random: Random, count: int) -> list[Step]:
    """Half of the walks are of one kind of clients: classic, or with growing transactions."""
    taste = random.choice(("classic", "growing", "mixed", "mixed"))
    first = [draw_init(random, taste, slot) for slot in SLOTS if random.random() < 0.8]
    kinds = random.choices(list(WEIGHTS), list(WEIGHTS.values()), k=count)
    return first + [DRAWN[kind](random, taste, draw_slot(random)) for kind in kinds]


def draw_slot(random: Random) -> str:
    return random.choices(list(SLOTS), (5, 2, 3, 2))[0]


def draw_whom(random: Random) -> str:
    return random.choice(WHOM) if random.random() < 0.1 else "itself"


def draw_version(random: Random, taste: str, classic: Sequence[int], growing: Sequence[int]) -> int:
    chosen = {"classic": [*classic], "growing": [*growing]}.get(taste, [*classic, *growing])
    return random.choice(chosen)


def draw_places(random: Random) -> tuple[Place, ...]:
    if random.random() < 0.05:
        return (random.choice((("t", 9), ("none", 0), ("__consumer_offsets", 0))),)
    return tuple(random.sample(PLACES, random.choice((1, 1, 1, 2, 3))))


def draw_init(random: Random, taste: str, who: str) -> Step:
    version = draw_version(random, taste, range(6), range(3, 6))
    whom = "anybody"
    if version >= 3 and random.random() < 0.4:
        whom = random.choice(("itself", "itself", "older", "newer", "stranger", "epoch -1"))
    timeout_ms = random.choice((0, -1, 10**9)) if random.random() < 0.04 else TIMEOUT_MS
    return Step("init", version, who, whom, (), (("timeout_ms", timeout_ms),))


def draw_add(random: Random, taste: str, who: str) -> Step:
    version = draw_version(random, taste, range(4), (4, 5))
    return Step("add", version, who, draw_whom(random), draw_places(random))


def draw_verify(random: Random, _taste: str, who: str) -> Step:
    version = random.choice((4, 5))
    return Step("verify", version, who, draw_whom(random), draw_places(random))


def draw_several(random: Random, _taste: str, who: str) -> Step:
    others = [slot for slot, name in SLOTS.items() if name and name != SLOTS[who]]
    details = (("and", random.choice(others)), ("verify", random.random() < 0.5))
    return Step(
        "several", random.choice((4, 5)), who, draw_whom(random), draw_places(random), details
    )


def draw_add_offsets(random: Random, _taste: str, who: str) -> Step:
    group = (("group", random.choice(GROUPS)),)
    return Step("add offsets", random.choice(range(5)), who, draw_whom(random), (), group)


def draw_commit_offsets(random: Random, taste: str, who: str) -> Step:
    version = draw_version(random, taste, range(5), (5,))
    details = [("group", random.choice(GROUPS)), ("offset", random.randrange(100))]
    if version >= 3 and random.random() < 0.1:
        details += [("generation", random.choice((0, 1, -1))), ("member", random.choice(("", "m")))]
    return Step(
        "commit offsets", version, who, draw_whom(random), draw_places(random), tuple(details)
    )


def draw_end(random: Random, taste: str, who: str) -> Step:
    version = draw_version(random, taste, range(5), (5,))
    return Step("end", version, who, draw_whom(random), (), (("commit", random.random() < 0.6),))


SEQUENCES = ("again", "gap", "zero", "older", "longer", "negative", "last of before")


def draw_write(random: Random, taste: str, who: str) -> Step:
    version = draw_version(random, taste, range(3, 12), (12, 13))
    details: list[tuple[str, Any]] = []
    if random.random() < 0.2:
        details.append(("sequence", random.choice(SEQUENCES)))
    if random.random() < 0.3:
        details.append(("count", random.randrange(1, 5)))
    if random.random() < 0.08:
        details.append(("transactional", random.random() < 0.5))
    if random.random() < 0.05:
        details.append(("named", random.random() < 0.5))
    if random.random() < 0.15:
        details.append(("acks", random.choice((0, 1, 2))))
    if random.random() < 0.2:
        details.append(("codec", random.randrange(1, 5 if version >= 7 else 4)))
    # A negative number in a batch is refused as malformed, see the table of differences.
    whom = random.choice(("older", "newer", "stranger", "the other's id", "unknown id"))
    is_usual = random.random() < 0.9
    places = tuple(p for p in draw_places(random) if p[0] != "__consumer_offsets") or PLACES[:1]
    return Step("write", version, who, "itself" if is_usual else whom, places, tuple(details))


def draw_markers(random: Random, _taste: str, who: str) -> Step:
    details = (
        ("commit", random.random() < 0.5),
        ("coordinator", random.choice((0, 0, 0, 1, 5, -1))),
        ("level", random.choice((0, 1, 2))),
    )
    places = tuple(p for p in draw_places(random) if p[0] != "__consumer_offsets") or PLACES[:1]
    whom = random.choice(("itself", "itself", "newer", "older", "stranger"))
    return Step("markers", random.choice((1, 2)), who, whom, places, details)


def draw_look(kind: str, versions: Sequence[int]) -> Any:
    def drawn(random: Random, _taste: str, who: str) -> Step:
        details: tuple[tuple[str, Any], ...] = ()
        if kind == "fetch":
            details = (
                ("isolation", random.choice((0, 1, 1))),
                ("offset", random.choice((0, 0, 3))),
            )
        elif kind == "offsets":
            details = (
                ("isolation", random.choice((0, 1))),
                ("time", random.choice((-1, -1, -2, -3))),
            )
        elif kind == "committed":
            details = (("group", random.choice(GROUPS)), ("stable", random.random() < 0.5))
        elif kind == "delete":
            details = (("to", random.choice((1, 2, 5, -1))),)
        return Step(
            kind, random.choice(versions), who, "itself", tuple(random.sample(PLACES, 2)), details
        )

    return drawn


DRAWN: dict[str, Any] = {
    "init": draw_init,
    "add": draw_add,
    "verify": draw_verify,
    "several": draw_several,
    "add offsets": draw_add_offsets,
    "commit offsets": draw_commit_offsets,
    "end": draw_end,
    "write": draw_write,
    "markers": draw_markers,
    "producers": draw_look("producers", (0,)),
    "describe": draw_look("describe", (0,)),
    "list": draw_look("list", (0, 1, 2)),
    "fetch": draw_look("fetch", range(4, 19)),
    "offsets": draw_look("offsets", range(2, 12)),
    "committed": draw_look("committed", range(7, 11)),
    "delete": draw_look("delete", (0, 1, 2)),
}


# What it asks


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


class Transactions:
    """What one broker has told in one walk."""

    def __init__(self, hand: Hand) -> None:
        self.hand, self.talk = hand, hand.talk
        talk = hand.talk
        self.topics = {
            "t": talk.topic("t", 2, NEVER_ROLLED),
            "u": talk.topic("u", 1, NEVER_ROLLED),
            "none": Topic(talk.name("none"), b"0123456789abcdef"),
            "__consumer_offsets": Topic("__consumer_offsets", bytes(16)),
        }
        # Whose partitions have seen a newer epoch than coordinators have: they refuse the markers
        # of its transactions, which therefore never end.
        self.poisoned: set[str | None] = set()
        self.slots = {
            slot: Slot(Producer(talk.name(name) if name else "", -1, -1))
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
            "unknown id": own._replace(transactional_id=self.talk.name("unknown")),
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
        return self.hand.ask(request, step.version, **more)

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
            await_end(self.talk, slot.producer)

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
        request = add_offsets(self.whom(step), self.talk.name(step["group"]))
        self.ask(step, request)

    def ask_commit_offsets(self, step: Step) -> None:
        chosen = [
            (topic, [(index, step["offset"], -1, "") for index in indexes])
            for topic, indexes in self.names_of(step)
        ]
        generation, member = step["generation"], step["member"]
        request = commit_offsets(
            self.whom(step),
            self.talk.name(step["group"]),
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
        ):  # stricter than Kafka: nobody's batch cannot be transactional
            whom, is_transactional = whom._replace(id=-1, epoch=-1), False
        is_named = is_transactional if step["named"] is None else step["named"]
        chosen = {place: self.sequence_of(step, place, count) for place in step.places}
        topics = []
        for topic, indexes in self.by_topic(step):
            short = next(name for name, each in self.topics.items() if each is topic)
            parts = []
            for index in indexes:
                first, size = chosen[short, index]
                data = batch(
                    *[b"v"] * size,
                    producer=(whom.id, whom.epoch, first if whom.id >= 0 else -1),
                    is_transactional=is_transactional,
                    codec=step["codec"] or 0,
                )
                parts.append(PartitionProduceData(index, data))
            topics.append(TopicProduceData(topic.name, topic.id, parts))
        transactional_id = whom.transactional_id if is_named else None
        request = ProduceRequest(transactional_id, -1 if acks is None else acks, 30_000, topics)
        asking = self.hand.ask_silently if acks == 0 else self.hand.ask
        answer = asking(request, step.version)
        for place in self.stored_places(step, answer):
            first, size = chosen[place]
            slot = self.slots[step.who]
            slot.sequences[place], slot.last[place] = first + size, (first, size)

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
                if next(reversed(self.talk.answers.values())) == "no answer"
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
        request = DescribeTransactionsRequest([self.talk.name("A"), self.talk.name("B")])
        self.ask(step, request)

    def ask_list(self, step: Step) -> None:
        self.ask(step, ListTransactionsRequest(), shown=self.own)

    def own(self, answer: Any) -> Any:
        out, prefix = copy(answer), self.talk.name("")
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
        request = FetchRequest(max_bytes=1 << 20, isolation_level=step["isolation"], topics=topics)
        self.ask(step, request)

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
        name = self.talk.name(step["group"])
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


def without_clock(answer: Any) -> Any:
    """Markers have the time of the clock."""
    out = deepcopy(answer)
    for topic in out.topics:
        for part in topic.partitions:
            part.timestamp = 1 if is_of_the_clock(part.timestamp) else part.timestamp
    return out


AREA = Area("transactions", draw, Transactions)
