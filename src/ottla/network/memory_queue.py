"""Connections that wait for request memory, and the order in which they get it.

There is a queue for each reputation, and the queues are served in round robin: many clients without
a reputation do not delay one that has it, and are served as well. Within a queue, addresses are
served in round robin. Every second service goes to a newcomer: of the address that came last and
was not served yet, the connection that came last. So a long queue does not delay a newcomer, nor
newcomers the queue.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container
from enum import IntEnum
from typing import Generic, TypeVar

T = TypeVar("T")


class Reputation(IntEnum):
    """What is known of a client."""

    UNKNOWN = 0  # was never sent a response
    ANSWERED = 1  # was sent a response
    PROMPT = 2  # its last request that needed memory arrived promptly


ALL = frozenset(Reputation)


class AddressQueue(Generic[T]):
    """Items in round robin over their addresses, every second one a newcomer."""

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
        self._remove_if_empty(address)

    def take(self) -> T:
        self._is_for_newcomers = not self._is_for_newcomers
        if self._is_for_newcomers and self._unserved:
            address = next(reversed(self._unserved))
        else:
            address = next(iter(self._of_address))
        self._unserved.pop(address, None)
        self._of_address.move_to_end(address)
        item, _ = self._of_address[address].popitem(last=self._is_for_newcomers)
        self._remove_if_empty(address)
        return item

    def _remove_if_empty(self, address: str) -> None:
        if not self._of_address[address]:
            del self._of_address[address]
            self._unserved.pop(address, None)


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
