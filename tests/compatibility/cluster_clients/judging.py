"""Compares the records of the topics with the results that programs received. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

RECORDS = 5  # of a transaction


def lost(sent: Iterable[str], stored: Iterable[str]) -> set[str]:
    """Acknowledged, and not there."""
    return set(sent) - set(stored)


def doubled(stored: Iterable[str]) -> set[str]:
    return {value for value, times in Counter(stored).items() if times > 1}


def unread(stored: Mapping[tuple[int, int], str], read: Iterable[str]) -> set[tuple[int, int]]:
    """Partitions and offsets that the group was not given. Lines are `partition offset value`."""
    given = {(int(partition), int(offset)) for partition, offset, _ in map(str.split, read)}
    return set(stored) - given


def misread(stored: Mapping[tuple[int, int], str], read: Iterable[str]) -> list[str]:
    """Lines with another value than the one that is stored there."""
    return [
        line
        for line in read
        for partition, offset, value in [line.split()]
        if stored.get((int(partition), int(offset))) != value
    ]


def torn(reported: Mapping[str, Sequence[str]], seen: Iterable[str]) -> list[str]:
    """Transactions of which not exactly what was said is seen by readers of committed records."""
    found = Counter(seen)
    by_number = Counter(value.partition("-")[0] for value in found)
    wrong = [f"{value} is there {times} times" for value, times in found.items() if times > 1]
    expected = {"committed": (RECORDS,), "aborted": (0,), "unknown": (0, RECORDS)}
    ended = {number: word for word in expected for number in reported.get(word, ())}
    for number, word in ended.items():
        if by_number[number] not in expected[word]:
            wrong.append(f"{word} {number} has {by_number[number]} records")
    return wrong
