"""Which bytes may pass where: the faults of a network, as data.

A link leads from a source to a target. Sources are the client ids of Kafka's protocol: "broker-1"
for connections that broker 1 opens. Targets are doors, see `doors.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from fnmatch import fnmatchcase
from typing import NamedTuple


class Direction(Enum):
    REQUESTS = "requests"  # from the side that opened the connection
    ANSWERS = "answers"


class Rule(NamedTuple):
    """Patterns of a source and a target. Bytes wait for `delay_s`; without it until the rule ends,
    as they would for TCP in a network that loses every packet. With `drop_share`, that share of
    them is dropped instead, together with the connection; with `flip_share`, that share of
    those with filler of records has one bit changed there, where only a checksum notices."""

    source: str
    target: str
    directions: tuple[Direction, ...] = (Direction.REQUESTS, Direction.ANSWERS)
    delay_s: float | None = None
    drop_share: float = 0.0
    flip_share: float = 0.0

    def applies(self, source: str, target: str, direction: Direction) -> bool:
        return (
            direction in self.directions
            and fnmatchcase(source, self.source)
            and fnmatchcase(target, self.target)
        )


class Passage(NamedTuple):
    is_open: bool
    delay_s: float
    drop_share: float = 0.0
    flip_share: float = 0.0


def passage(rules: Iterable[Rule], source: str, target: str, direction: Direction) -> Passage:
    """What the rules together mean for one direction of one link."""
    found = [each for each in rules if each.applies(source, target, direction)]
    return Passage(
        all(each.delay_s is not None or each.drop_share or each.flip_share for each in found),
        max((each.delay_s or 0.0 for each in found), default=0.0),
        max((each.drop_share for each in found), default=0.0),
        max((each.flip_share for each in found), default=0.0),
    )


def encode(rules: Iterable[Rule]) -> list[list[object]]:
    return [
        [
            each.source,
            each.target,
            [at.value for at in each.directions],
            each.delay_s,
            each.drop_share,
            each.flip_share,
        ]
        for each in rules
    ]


def decode(rules: list[list[object]]) -> list[Rule]:
    found = []
    for source, target, directions, delay_s, drop_share, flip_share in rules:
        assert isinstance(source, str)
        assert isinstance(target, str)
        assert isinstance(directions, list)
        assert delay_s is None or isinstance(delay_s, int | float)
        assert isinstance(drop_share, int | float)
        assert isinstance(flip_share, int | float)
        ways = tuple(map(Direction, directions))
        found.append(Rule(source, target, ways, delay_s, drop_share, flip_share))
    return found
