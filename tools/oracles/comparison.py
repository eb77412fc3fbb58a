"""Compares our codec with a foreign one, value by value, in both directions.

Promises  `encode`: our bytes are exactly theirs. `decode`: their bytes read here give the value
          that they were made from, with the defaults in the fields that the version lacks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from tests.support.message_values import (
    Plain,
    message_class,
    message_named,
    random_values,
    to_object,
)
from tools.messages.schema import MessageSchema
from tools.oracles.codec import Case, ForeignCodec, Refusal

DIRECTIONS = ("encode", "decode")


@dataclass(frozen=True, slots=True)
class Disagreement:
    case: Case
    codec: str
    direction: str
    ours: str
    theirs: str

    def __str__(self) -> str:
        where = f"{self.case.message.name} version {self.case.version}, {self.direction}"
        both = f"  ours   {self.ours}\n  {self.codec}      {self.theirs}"
        return f"{where}: {_short(self.case.value)}\n{both}"


def compare(
    message: MessageSchema, versions: Iterable[int], codec: ForeignCodec, seed: int, count: int
) -> list[Disagreement]:
    """The differences for the edge cases and `count` random values of each version."""
    cases = [
        codec.fit(Case(message, version, value))
        for version in versions
        for value in _drawn(message.name, version, seed, count)
    ]
    found: list[Disagreement] = []
    for case, theirs in zip(cases, codec.encode_many(cases), strict=True):
        found.extend(compare_one(case, codec.letter, theirs))
    return found


@lru_cache(maxsize=64)
def _drawn(name: str, version: int, seed: int, count: int) -> list[Plain]:
    """The same for every codec that is compared next with the same message."""
    return random_values(message_named(name), version, seed, count)


def compare_one(case: Case, letter: str, theirs: bytes | Refusal) -> list[Disagreement]:
    ours = to_object(case.message, case.version, case.value)
    if isinstance(theirs, Refusal):
        return [Disagreement(case, letter, way, "takes it", theirs.reason) for way in DIRECTIONS]
    found = []
    encoded = ours.encode(case.version)
    if encoded != theirs:
        found.append(Disagreement(case, letter, "encode", encoded.hex(), theirs.hex()))
    try:
        read = message_class(case.message).decode(theirs, case.version)
    except ValueError as error:
        found.append(Disagreement(case, letter, "decode", str(error), theirs.hex()))
    else:
        if read != ours:
            found.append(Disagreement(case, letter, "decode", repr(read), theirs.hex()))
    return found


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 2000 else text[:2000] + " ..."
