"""Random requests of transactions: several producers, some of one transactional id.

Owns      what a step may ask.
Leaves    asking it to `transactions_model.py`; comparing and shrinking to the harness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from tests.compatibility.differential.scripts.transactional import TIMEOUT_MS
from tests.compatibility.random_requests.request_sequence import Area
from tests.compatibility.random_requests.transactions_model import (
    GROUPS,
    PLACES,
    SLOTS,
    Place,
    Step,
    TransactionsModel,
)

WEIGHTS = {
    "init": 8, "add": 10, "verify": 3, "several": 2, "add offsets": 5, "commit offsets": 6,
    "end": 14, "write": 30, "markers": 3, "producers": 4, "describe": 5, "list": 3, "fetch": 6,
    "session": 8, "waiting": 3,
    "offsets": 4, "committed": 4, "delete": 2,
}  # fmt: skip
WHOM = ("older", "newer", "epoch -1", "stranger", "nobody", "the other's id", "unknown id", "")


def draw(random: Random, count: int) -> list[Step]:
    """Half of the sequences are of one kind of clients: classic, or with growing transactions."""
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
    if random.random() < 0.08:
        details.append(("wrong", random.choice(("control", "checksum", "two batches"))))
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


SIZES = (1 << 20, 1 << 20, 1 << 20, 0, 1, 70, 100, 200)


def draw_look(kind: str, versions: Sequence[int]) -> Any:
    def drawn(random: Random, _taste: str, who: str) -> Step:
        details: tuple[tuple[str, Any], ...] = ()
        if kind == "fetch":
            details = (
                ("isolation", random.choice((0, 1, 1))),
                ("offset", random.choice((0, 0, 3))),
                ("bytes", random.choice(SIZES)),
            )
        elif kind == "session":
            details = (
                ("asks", random.random() < 0.2),
                ("offset", random.choice((0, 0, 2, 4))),
                ("bytes", random.choice(SIZES)),
            )
        elif kind == "offsets":
            details = (
                ("isolation", random.choice((0, 1))),
                ("time", random.choice((-1, -1, -2, -3))),
            )
        elif kind == "list":
            details = (
                ("states", random.choice((None, None, ("Ongoing",), ("Empty", "CompleteAbort")))),
                ("producers", random.choice((None, None, ("a",), ("b", "plain")))),
                ("pattern", random.choice((".*", "A", "[AB]", "x"))),
            )
        elif kind == "committed":
            details = (("group", random.choice(GROUPS)), ("stable", random.random() < 0.5))
        elif kind == "delete":
            details = (("to", random.choice((1, 2, 5, -1))),)
        return Step(
            kind, random.choice(versions), who, "itself", tuple(random.sample(PLACES, 2)), details
        )

    return drawn


def draw_waiting(random: Random, taste: str, who: str) -> Step:
    kind = random.choice(("end", "end", "end", "write"))
    place = random.choice(PLACES)
    then: Step = DRAWN[kind](random, taste, who)
    if kind == "write":  # in one place: a reader is woken by the first of several
        then = replace(then, places=(place,))
    return Step("waiting", random.randrange(4, 19), who, "itself", (place,), (("then", then),))


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
    "session": draw_look("session", range(7, 13)),
    "waiting": draw_waiting,
    "offsets": draw_look("offsets", range(2, 12)),
    "committed": draw_look("committed", range(7, 11)),
    "delete": draw_look("delete", (0, 1, 2)),
}

AREA = Area("transactions", draw, TransactionsModel)
