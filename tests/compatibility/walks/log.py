"""Walks along logs: batches good and bad, read, searched and deleted in random order.

Owns      what a step may ask (`draw`), and how it is asked of one broker (`Logs`).
Promises  offsets, times and sizes are drawn small enough that steps meet each other.
Leaves    transactions to `transactions.py`, playing and shrinking to `walk.py`, what is wrong with
          bad batches to the script about them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.compatibility.differential.allowed import Allowed
from tests.compatibility.differential.batches import TIME_MS, batch, mixed
from tests.compatibility.differential.differences import RECORD_ERRORS
from tests.compatibility.differential.plain import is_of_the_clock
from tests.compatibility.differential.scripts.produce import BAD, BAD_WITH_KEYS
from tests.compatibility.differential.talk import Topic
from tests.compatibility.walks.hand import Hand
from tests.compatibility.walks.walk import Area

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

Place = tuple[str, int]
DAY_MS = 86_400_000
NEVER_ROLLED = {"segment.ms": str(10**15)}
TOPICS: dict[str, tuple[int, dict[str, str]]] = {
    "t": (3, {}),
    "compacted": (1, {"cleanup.policy": "compact", **NEVER_ROLLED}),
    "stamped": (1, {"message.timestamp.type": "LogAppendTime"}),
    "small": (1, {"max.message.bytes": "150"}),
    "plain": (1, {"compression.type": "uncompressed"}),
}
PLACES: list[Place] = [(name, index) for name, (size, _) in TOPICS.items() for index in range(size)]
WRONG_PLACES: list[Place] = [("t", 3), ("t", -1), ("none", 0)]
# Differences that are listed, and after which the logs are not the same any more.
LISTED = (
    "codec", "not what codec", "one byte too", "twenty bytes", "a good one and", "length 49",
    "length 2147483647", "log append", "delete horizon", "record offset delta 1", "key length -2",
)  # fmt: skip
BAD_LABELS = [label for label in BAD if not label.startswith(LISTED)]
UNFRAMED = ("length", "magic byte 3", "magic byte 127", "magic byte 255")
PRODUCERS = 2


@dataclass(frozen=True)
class Batch:
    """What is written to one place."""

    place: Place
    kind: str = "good"  # or what is wrong with it
    count: int = 1
    codec: int = 0
    after_ms: int = 0
    producer: int = -1
    sequence: str = "next"
    epoch: int = 0

    def __repr__(self) -> str:
        words = [f"{self.place[0]}-{self.place[1]} {self.kind}"]
        if self.kind == "good":
            words.append(f"x{self.count} codec {self.codec} +{self.after_ms} ms")
        if self.producer >= 0:
            words.append(f"of {self.producer} epoch {self.epoch} sequence {self.sequence}")
        return f"({' '.join(words)})"


@dataclass(frozen=True)
class Step:
    kind: str
    version: int
    places: tuple[Place, ...] = ()
    batches: tuple[Batch, ...] = ()
    details: tuple[tuple[str, Any], ...] = ()

    def __getitem__(self, name: str) -> Any:
        return dict(self.details).get(name)

    def play(self, world: Logs) -> None:
        getattr(world, f"ask_{self.kind}")(self)

    def __repr__(self) -> str:
        words = [f"{self.kind} v{self.version}", *map(repr, self.batches)]
        words += [f"{topic}-{index}" for topic, index in self.places]
        words += [f"{name}={value}" for name, value in self.details]
        return " ".join(words)


# Which step


def draw(random: Random, count: int) -> list[Step]:
    fetching = random.randrange(7, 19)  # the version that most sessions of this walk have
    kinds = random.choices(list(DRAWN), [weight for weight, _ in DRAWN.values()], k=count)
    return [DRAWN[kind][1](random, fetching) for kind in kinds]


def draw_places(random: Random, sizes: Sequence[int] = (1, 1, 2, 3)) -> tuple[Place, ...]:
    chosen = random.sample(PLACES, random.choice(sizes))
    if random.random() < 0.08:
        chosen.append(random.choice(WRONG_PLACES))
    return tuple(chosen)


def draw_produce(random: Random, _fetching: int) -> Step:
    version = random.randrange(3, 14)
    batches = tuple(draw_batch(random, place) for place in draw_places(random))
    for each in batches:
        if each.kind.startswith(UNFRAMED):  # Kafka then refuses all partitions, known or not
            batches = (replace(each, place=random.choice(PLACES)),)
    acks = random.choice((0, 1, 2)) if random.random() < 0.2 else -1
    return Step("produce", version, (), batches, (("acks", acks),))


def draw_batch(random: Random, place: Place) -> Batch:
    chance = random.random()
    if chance < 0.12:
        return Batch(place, random.choice(BAD_LABELS))
    if chance < 0.17:
        return Batch(place, "mixed keys")
    count, codec = random.choice((1, 1, 2, 3, 7)), random.choice((0, 0, 0, 1, 2, 3, 4))
    if chance < 0.4:
        sequence = random.choice(("next", "next", "next", "again", "gap", "zero", "longer"))
        epoch = random.choice((0, 0, 0, 0, 1))
        return Batch(place, "good", count, codec, 0, random.randrange(PRODUCERS), sequence, epoch)
    after_ms = random.choice((0, 0, 1, 2, 3, 5, 10, -5, 8 * DAY_MS, 20 * DAY_MS))
    return Batch(place, "good", count, codec, after_ms)


SIZES = (0, 1, 61, 75, 100, 150, 300, 1 << 20, 1 << 20, 1 << 20)
OFFSETS = (0, 0, 0, 1, 2, 3, 4, 6, 9, 12, 999, -1)


def draw_fetch(random: Random, _fetching: int) -> Step:
    return Step("fetch", random.randrange(4, 19), draw_places(random), (), draw_reading(random))


def draw_reading(random: Random) -> tuple[tuple[str, Any], ...]:
    chosen: list[tuple[str, Any]] = [("offset", random.choice(OFFSETS))]
    if random.random() < 0.3:
        chosen.append(("bytes", random.choice(SIZES)))
    if random.random() < 0.3:
        chosen.append(("each", random.choice(SIZES)))
    if random.random() < 0.3:
        chosen.append(("isolation", 1))
    if random.random() < 0.15:
        chosen.append(("epoch", random.choice((0, 0, 1, -2))))
    if random.random() < 0.1:
        chosen.append(("last_epoch", random.choice((0, 0, 1))))
    if random.random() < 0.1:
        chosen.append(("min_bytes", random.choice((1, 200))))
    return tuple(chosen)


def draw_session(random: Random, fetching: int) -> Step:
    """A request of one of two sessions; its first one opens it."""
    version = fetching if random.random() < 0.9 else random.randrange(7, 19)
    chosen: list[tuple[str, Any]] = [("session", random.randrange(2)), *draw_reading(random)]
    deeds = ("next", "open", "close", "old epoch", "newer epoch", "unknown", "negative")
    deed = random.choices(deeds, (30, 4, 2, 1, 1, 1, 1))[0]
    chosen.append(("deed", deed))
    if random.random() < 0.25:
        chosen.append(("forgotten", tuple(random.sample(PLACES, random.choice((1, 2))))))
    places = draw_places(random, (0, 0, 1, 2, 3))
    return Step("session", version, places, (), tuple(chosen))


TIMES = (-1, -2, -3, -4, -5, -6, -7)


def draw_offsets(random: Random, _fetching: int) -> Step:
    time = random.choice(TIMES) if random.random() < 0.5 else TIME_MS + random.randrange(-6, 12)
    if random.random() < 0.1:
        time = TIME_MS + random.choice((8, 20, 30)) * DAY_MS + random.choice((0, 1))
    chosen = [("time", time), ("isolation", random.choice((0, 1)))]
    if random.random() < 0.1:
        chosen.append(("epoch", random.choice((0, 1, -2))))
    return Step("offsets", random.randrange(1, 12), draw_places(random), (), tuple(chosen))


def draw_delete(random: Random, _fetching: int) -> Step:
    to = random.choice((0, 1, 2, 3, 4, 5, 7, -1, -2, 999))
    return Step("delete", random.randrange(3), draw_places(random, (1, 2)), (), (("to", to),))


def draw_epochs(random: Random, _fetching: int) -> Step:
    chosen = (
        ("epoch", random.choice((0, 0, 1, -1, -2, 5))),
        ("current", random.choice((-1, 0, 1))),
    )
    return Step("epochs", random.randrange(2, 5), draw_places(random), (), chosen)


def draw_producers(random: Random, _fetching: int) -> Step:
    return Step("producers", 0, draw_places(random))


DRAWN: dict[str, tuple[int, Callable[[Random, int], Step]]] = {
    "produce": (40, draw_produce),
    "fetch": (15, draw_fetch),
    "session": (25, draw_session),
    "offsets": (15, draw_offsets),
    "delete": (5, draw_delete),
    "epochs": (3, draw_epochs),
    "producers": (4, draw_producers),
}


# What it asks


class Logs:
    """What one broker has told in one walk."""

    def __init__(self, hand: Hand) -> None:
        self.hand, talk = hand, hand.talk
        self.topics = {name: talk.topic(name, *told) for name, told in TOPICS.items()}
        self.topics["none"] = Topic(talk.name("none"), b"0123456789abcdef")
        self.producers = [self.new_producer(number) for number in range(PRODUCERS)]
        self.next: dict[tuple[int, int, Place], int] = {}  # sequences by producer, epoch, place
        self.last: dict[tuple[int, int, Place], tuple[int, int]] = {}
        self.sessions = [(0, 0), (0, 0)]  # number and next epoch

    def after_step(self) -> None: ...

    def new_producer(self, number: int) -> int:
        talk = self.hand.talk
        producer_id: int = talk.once_ready(InitProducerIdRequest(None, 60_000), 4).producer_id
        talk.names.define("producer", producer_id, str(number))
        return producer_id

    def by_topic(self, places: Sequence[Place]) -> list[tuple[Topic, list[int]]]:
        found: dict[str, list[int]] = {}
        for topic, index in places:
            found.setdefault(topic, []).append(index)
        return [(self.topics[topic], indexes) for topic, indexes in found.items()]

    # Writing

    def ask_produce(self, step: Step) -> None:
        chosen = {each.place: self.sequence_of(each) for each in step.batches}
        data = {each.place: self.records_of(each, *chosen[each.place]) for each in step.batches}
        topics = []
        for name in dict.fromkeys(place[0] for place in data):
            parts = [PartitionProduceData(at[1], data[at]) for at in data if at[0] == name]
            topics.append(TopicProduceData(self.topics[name].name, self.topics[name].id, parts))
        request = ProduceRequest(None, step["acks"], 30_000, topics)
        asking = self.hand.ask_silently if step["acks"] == 0 else self.hand.ask
        answer = asking(request, step.version)
        for each in step.batches:
            if each.producer >= 0 and self.is_stored(answer, each.place):
                key, (first, count) = (each.producer, each.epoch, each.place), chosen[each.place]
                self.next[key], self.last[key] = first + count, (first, count)

    def is_stored(self, answer: Any, place: Place) -> bool:
        if (
            answer is None
        ):  # without acknowledgement: the connection is closed if there was any error
            return bool(next(reversed(self.hand.talk.answers.values())) == "no answer")
        wanted = self.topics[place[0]]
        return any(
            part.error_code == 0
            for topic in answer.responses
            if topic.name == wanted.name or topic.topic_id == wanted.id
            for part in topic.partition_responses
            if part.index == place[1]
        )

    def sequence_of(self, wanted: Batch) -> tuple[int, int]:
        """First sequence and number of records."""
        key = (wanted.producer, wanted.epoch, wanted.place)
        first, last = self.next.get(key, 0), self.last.get(key, (0, 1))
        match wanted.sequence:
            case "again":
                return last
            case "gap":
                return first + 2, wanted.count
            case "zero":
                return 0, wanted.count
            case "longer":
                return last[0], last[1] + 1
        return first, wanted.count

    def records_of(self, wanted: Batch, first: int, count: int) -> bytes | bytearray:
        key = b"key" if wanted.place[0] == "compacted" else None
        if wanted.kind == "mixed keys":
            return mixed(b"k", None, b"", None)
        if wanted.kind != "good":
            return (BAD_WITH_KEYS if key else BAD)[wanted.kind]
        producer = (-1, -1, -1)
        if wanted.producer >= 0:
            producer = (self.producers[wanted.producer], wanted.epoch, first)
        else:
            count = wanted.count
        values = [b"v%d" % at for at in range(count)]
        time_ms = TIME_MS + wanted.after_ms
        return batch(*values, key=key, time_ms=time_ms, producer=producer, codec=wanted.codec)

    # Reading

    def fetch_of(self, step: Step, session: tuple[int, int] = (0, -1)) -> FetchRequest:
        def wanted(index: int) -> FetchPartition:
            epoch, last_epoch = step["epoch"], step["last_epoch"]
            return FetchPartition(
                index,
                -1 if epoch is None else epoch,
                step["offset"],
                -1 if last_epoch is None else last_epoch,
                -1,
                1 << 20 if step["each"] is None else step["each"],
            )

        return FetchRequest(
            max_wait_ms=5 if step["min_bytes"] else 0,
            min_bytes=step["min_bytes"] or 0,
            max_bytes=1 << 20 if step["bytes"] is None else step["bytes"],
            isolation_level=step["isolation"] or 0,
            session_id=session[0],
            session_epoch=session[1],
            topics=[
                FetchTopic(topic.name, topic.id, [wanted(index) for index in indexes])
                for topic, indexes in self.by_topic(step.places)
            ],
            forgotten_topics_data=[
                ForgottenTopic(topic.name, topic.id, indexes)
                for topic, indexes in self.by_topic(step["forgotten"] or ())
            ],
        )

    def ask_fetch(self, step: Step) -> None:
        self.hand.ask(self.fetch_of(step), step.version, shown=by_topic)

    def ask_session(self, step: Step) -> None:
        at = step["session"]
        number, epoch = self.sessions[at]
        deed = "open" if step["deed"] == "next" and not number else step["deed"]
        session = {
            "next": (number, epoch),
            "open": (number, 0),
            "close": (number, -1),
            "old epoch": (number, max(epoch - 1, 1)),
            "newer epoch": (number, epoch + 1),
            "unknown": (12345, 1),
            "negative": (number, -2),
        }[deed]
        answer = self.hand.ask(self.fetch_of(step, session), step.version, shown=by_topic)
        if answer is None:
            return
        if deed == "open" and answer.error_code == 0:
            self.sessions[at] = (answer.session_id, 1)
        elif deed == "next" and answer.error_code == 0:
            self.sessions[at] = (number, epoch + 1)
        elif deed == "close":
            self.sessions[at] = (0, 0)

    def ask_offsets(self, step: Step) -> None:
        epoch = -1 if step["epoch"] is None else step["epoch"]
        topics = [
            ListOffsetsTopic(
                topic.name, [ListOffsetsPartition(at, epoch, step["time"]) for at in indexes]
            )
            for topic, indexes in self.by_topic(step.places)
        ]
        request = ListOffsetsRequest(-1, step["isolation"], topics, 1000)
        self.hand.ask(request, step.version, shown=without_clock)

    def ask_delete(self, step: Step) -> None:
        topics = [
            DeleteRecordsTopic(
                topic.name, [DeleteRecordsPartition(index, step["to"]) for index in indexes]
            )
            for topic, indexes in self.by_topic(step.places)
        ]
        self.hand.ask(DeleteRecordsRequest(topics, 10_000), step.version)

    def ask_epochs(self, step: Step) -> None:
        topics = [
            OffsetForLeaderTopic(
                topic.name,
                [OffsetForLeaderPartition(at, step["current"], step["epoch"]) for at in indexes],
            )
            for topic, indexes in self.by_topic(step.places)
        ]
        self.hand.ask(OffsetForLeaderEpochRequest(-2, topics), step.version)

    def ask_producers(self, step: Step) -> None:
        topics = [TopicRequest(topic.name, at) for topic, at in self.by_topic(step.places)]
        self.hand.ask(DescribeProducersRequest(topics), step.version)


def by_topic(answer: Any) -> Any:
    """Kafka tells of a topic in several parts where others come between."""
    out = copy(answer)
    merged: dict[tuple[str, bytes], Any] = {}
    for topic in answer.responses:
        known = merged.setdefault((topic.topic, topic.topic_id), copy(topic))
        if known.partitions is not topic.partitions:
            known.partitions = [*known.partitions, *topic.partitions]
    out.responses = list(merged.values())
    return out


def without_clock(answer: Any) -> Any:
    """Markers, and records that brokers give a time, have that of the clock."""
    out = deepcopy(answer)
    for topic in out.topics:
        for part in topic.partitions:
            if is_of_the_clock(part.timestamp - 40 * DAY_MS):
                part.timestamp = 1
    return out


ALLOWED = (Allowed(ApiKey.PRODUCE, "*", "*record_errors*", RECORD_ERRORS, range(8, 14)),)
AREA = Area("log", draw, Logs, ALLOWED)
