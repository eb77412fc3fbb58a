"""Connections that wait for request memory, and who of them is next.

There is a line for each standing, and the lines are served in turn: strangers cannot keep a good
client waiting by their number, and a stranger's turn comes too. In each line addresses are served
in turn. Every second turn is for newcomers: of the address that came last and was not served yet,
the connection that came last. So a crowd that waits does not delay a newcomer, nor newcomers the
crowd.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container
from enum import IntEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Standing(IntEnum):
    STRANGER = 0  # was never sent a response
    KNOWN = 1
    PROMPT = 2  # the last of its requests that needed room arrived promptly


EVERY = frozenset(Standing)


class Line(Generic[T]):
    def __init__(self) -> None:
        self._of_address: OrderedDict[str, OrderedDict[T, None]] = OrderedDict()  # next one first
        self._unserved: OrderedDict[str, None] = OrderedDict()  # addresses, the newest last
        self._is_for_newcomers = False

    def __bool__(self) -> bool:
        return bool(self._of_address)

    def add(self, item: T, address: str) -> None:
        if address not in self._of_address:
            self._of_address[address] = OrderedDict()
            self._unserved[address] = None
        self._of_address[address][item] = None

    def remove(self, item: T, address: str) -> None:
        del self._of_address[address][item]
        self._forget_empty(address)

    def take(self) -> T:
        self._is_for_newcomers = not self._is_for_newcomers
        if self._is_for_newcomers and self._unserved:
            address = next(reversed(self._unserved))
        else:
            address = next(iter(self._of_address))
        self._unserved.pop(address, None)
        self._of_address.move_to_end(address)
        item, _ = self._of_address[address].popitem(last=self._is_for_newcomers)
        self._forget_empty(address)
        return item

    def _forget_empty(self, address: str) -> None:
        if not self._of_address[address]:
            del self._of_address[address]
            self._unserved.pop(address, None)


class WaitingReaders(Generic[T]):
    def __init__(self) -> None:
        self._lines: OrderedDict[Standing, Line[T]] = OrderedDict()  # the next one first
        for standing in reversed(Standing):
            self._lines[standing] = Line()
        self._where: dict[T, tuple[str, Standing]] = {}

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, item: T) -> bool:
        return item in self._where

    def items(self) -> list[T]:
        return list(self._where)

    def add(self, item: T, address: str, standing: Standing) -> None:
        if item not in self._where:
            self._where[item] = (address, standing)
            self._lines[standing].add(item, address)

    def remove(self, item: T) -> None:
        if (where := self._where.pop(item, None)) is not None:
            address, standing = where
            self._lines[standing].remove(item, address)

    def take(self, standings: Container[Standing] = EVERY) -> T | None:
        """The next one of those with one of these standings; None if there is none."""
        for standing, line in self._lines.items():
            if line and standing in standings:
                self._lines.move_to_end(standing)
                item = line.take()
                del self._where[item]
                return item
        return None
