"""Random requests about logs: batches good and bad, read, searched and deleted in any order.

Owns      what a step may ask.
Promises  offsets, times and sizes are drawn small enough that steps meet each other.
Leaves    transactions to `transactions.py`, asking to `log_model.py`, comparing to `comparison.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.compatibility.differential.allowed import Allowed
from tests.compatibility.differential.batches import TIME_MS
from tests.compatibility.differential.differences import RECORD_ERRORS
from tests.compatibility.differential.scripts.produce import BAD
from tests.compatibility.random_requests.log_model import (
    DAY_MS,
    PLACES,
    PRODUCERS,
    WRONG_PLACES,
    Batch,
    LogsModel,
    Place,
    Step,
)
from tests.compatibility.random_requests.request_sequence import Area

from ottla.protocol.api_keys import ApiKey

# Differences that are listed, and after which the logs are not the same any more.
LISTED = (
    "codec", "not what codec", "one byte too", "twenty bytes", "a good one and", "length 49",
    "length 2147483647", "log append", "delete horizon", "record offset delta 1", "key length -2",
)  # fmt: skip
IDS_FROM = 13  # versions of Fetch that name topics by id
BAD_LABELS = [label for label in BAD if not label.startswith(LISTED)]
UNFRAMED = ("length", "magic byte 3", "magic byte 127", "magic byte 255")


def draw(random: Random, count: int) -> list[Step]:
    # The version that most fetch sessions of this sequence have.
    fetching = random.choice((*range(7, IDS_FROM), *range(7, 19)))
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
            return Step("produce", version, (), batches, (("acks", -1),))
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
    after_ms = random.choice((0, 0, 1, 2, 3, 5, 10, -5))
    if place in ROLLED and random.random() < 0.3:
        after_ms = random.choice((8, 20)) * DAY_MS
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
    version = fetching if random.random() < 0.95 else random.randrange(7, 19)
    chosen: list[tuple[str, Any]] = [("session", random.randrange(2)), *draw_reading(random)]
    deeds = ("next", "open", "close", "old epoch", "newer epoch", "unknown", "negative")
    deed = random.choices(deeds, (30, 4, 2, 1, 1, 1, 1))[0]
    chosen.append(("deed", deed))
    if random.random() < 0.25:
        chosen.append(("forgotten", tuple(random.sample(PLACES, random.choice((1, 2))))))
    places = draw_places(random, (0, 0, 1, 2, 3))
    return Step("session", version, places, (), tuple(chosen))


def draw_waiting(random: Random, _fetching: int) -> Step:
    place = random.choice(PLACES)
    is_there = random.random() < 0.8
    batch = Batch(place if is_there else random.choice(PLACES), count=random.choice((1, 2, 9)))
    min_bytes = (("min_bytes", random.choice((1, 1, 1, 80))),)
    return Step("waiting", random.randrange(4, 19), (place,), (batch,), min_bytes)


# Kafka's search by time ends in the segment in which the log begins, so a log of several segments
# is either searched or deleted from.
UNSEARCHED, UNDELETED = ROLLED = ("t", 1), ("t", 2)
MAX_TIMESTAMP = -3
TIMES = (-1, -2, -3, -4, -5, -6, -7)


def draw_offsets(random: Random, _fetching: int) -> Step:
    time = random.choice(TIMES) if random.random() < 0.5 else TIME_MS + random.randrange(-6, 12)
    if random.random() < 0.1:
        time = TIME_MS + random.choice((8, 20, 30)) * DAY_MS + random.choice((0, 1))
    chosen = [("time", time), ("isolation", random.choice((0, 1)))]
    if random.random() < 0.1:
        chosen.append(("epoch", random.choice((0, 1, -2))))
    places = draw_places(random)
    if time >= 0 or time == MAX_TIMESTAMP:
        places = tuple(UNDELETED if each == UNSEARCHED else each for each in places)
        places = tuple(dict.fromkeys(places))
    return Step("offsets", random.randrange(1, 12), places, (), tuple(chosen))


def draw_delete(random: Random, _fetching: int) -> Step:
    to = random.choice((0, 1, 2, 3, 4, 5, 7, -1, -2, 999))
    places = tuple(each for each in draw_places(random, (1, 2)) if each != UNDELETED)
    return Step("delete", random.randrange(3), places or (UNSEARCHED,), (), (("to", to),))


def draw_epochs(random: Random, _fetching: int) -> Step:
    chosen = (
        ("epoch", random.choice((0, 0, 1, -1, -2, 5))),
        ("current", random.choice((-1, 0, 1))),
    )
    return Step("epochs", random.randrange(2, 5), draw_places(random), (), chosen)


def draw_recreate(random: Random, _fetching: int) -> Step:
    return Step("recreate", 0, (random.choice((("plain", 0), ("small", 0), ("t", 0))),))


# Of topics whose logs are one segment: those of others, compacted, would be cleaned at some time.
CHANGED = ("plain", "small", "stamped", "compacted")
SETTINGS: tuple[tuple[str, tuple[str | None, ...]], ...] = (
    ("message.timestamp.type", ("CreateTime", "LogAppendTime", None)),
    ("max.message.bytes", ("60", "75", "100", "150", "1048588", None)),
    ("compression.type", ("producer", "uncompressed", None)),
    ("cleanup.policy", ("compact", "delete", "compact,delete", "", None)),
    ("message.timestamp.before.max.ms", ("1000", "9223372036854775807", None)),
    ("message.timestamp.after.max.ms", ("0", "9223372036854775807", None)),
    ("min.insync.replicas", ("2", "1", None)),
    ("delete.retention.ms", ("0", None)),
    ("index.interval.bytes", ("0", None)),
)


def draw_settings(random: Random, _fetching: int) -> Step:
    key, values = random.choice(SETTINGS)
    chosen = (("key", key), ("value", random.choice(values)))
    return Step("settings", random.randrange(2), ((random.choice(CHANGED), 0),), (), chosen)


def draw_producers(random: Random, _fetching: int) -> Step:
    return Step("producers", 0, draw_places(random))


DRAWN: dict[str, tuple[int, Callable[[Random, int], Step]]] = {
    "produce": (40, draw_produce),
    "fetch": (15, draw_fetch),
    "session": (25, draw_session),
    "waiting": (2, draw_waiting),
    "offsets": (15, draw_offsets),
    "delete": (5, draw_delete),
    "epochs": (3, draw_epochs),
    "producers": (4, draw_producers),
    "recreate": (2, draw_recreate),
    "settings": (4, draw_settings),
}

ALLOWED = (Allowed(ApiKey.PRODUCE, "*", "*record_errors*", RECORD_ERRORS, range(8, 14)),)
AREA = Area("log", draw, LogsModel, ALLOWED)
