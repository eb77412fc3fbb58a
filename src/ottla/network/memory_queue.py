"""Connections that wait for request memory, and the order in which they get it.

There is a queue for each reputation, and the queues are served in round robin: many clients without
a reputation do not delay one that has it, and are served as well. `address_queue.py` has the order
within a queue.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container
from enum import IntEnum
from typing import Generic, TypeVar

from ottla.network.address_queue import AddressQueue

T = TypeVar("T")


class Reputation(IntEnum):
    """What the broker knows about a client."""

    UNKNOWN = 0  # was never sent a response
    ANSWERED = 1  # was sent a response
    PROMPT = 2  # its last request that needed memory arrived promptly


ALL = frozenset(Reputation)


class MemoryQueue(Generic[T]):
    def __init__(self) -> None:
        self._queues: OrderedDict[Reputation, AddressQueue[T]] = OrderedDict()  # next one first
        for reputation in reversed(Reputation):
            self._queues[reputation] = AddressQueue()
        self._where: dict[T, tuple[str, Reputation]] = {}

    def __len__(self) -> int:
        return len(self._where)

    def __contains__(self, item: T) -> bool:
        return item in self._where

    def items(self) -> list[T]:
        return list(self._where)

    def add(self, item: T, address: str, reputation: Reputation) -> None:
        if item not in self._where:
            self._where[item] = (address, reputation)
            self._queues[reputation].add(item, address)

    def remove(self, item: T) -> None:
        if (where := self._where.pop(item, None)) is not None:
            address, reputation = where
            self._queues[reputation].remove(item, address)

    def take(self, reputations: Container[Reputation] = ALL) -> T | None:
        """Remove and return the next item with one of these reputations; None if there is none."""
        for reputation, queue in self._queues.items():
            if queue and reputation in reputations:
                self._queues.move_to_end(reputation)
                item = queue.take()
                del self._where[item]
                return item
        return None
