"""A queue that is fair to addresses, and to newcomers.

Addresses are served in round robin. Every second service goes to a newcomer: of the address that
came last and was not served yet, the item that came last. So a long queue does not delay a
newcomer, nor newcomers the queue.

`AddressQueue` holds items. `AddressWaiters` holds tasks that wait for something there is not enough
of, such as memory; `FairLock` is a lock whose next owner is chosen so.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class AddressQueue(Generic[T]):
    def __init__(self) -> None:
        self._count = 0
        self._of_address: OrderedDict[str, OrderedDict[T, None]] = OrderedDict()  # next one first
        self._unserved: OrderedDict[str, None] = OrderedDict()  # addresses, the newest last
        self._is_for_newcomers = False

    def __len__(self) -> int:
        return self._count

    def add(self, item: T, address: str) -> None:
        if address not in self._of_address:
            self._of_address[address] = OrderedDict()
            self._unserved[address] = None
        self._of_address[address][item] = None
        self._count += 1

    def remove(self, item: T, address: str) -> None:
        del self._of_address[address][item]
        self._count -= 1
        self._remove_if_empty(address)

    def discard(self, item: T, address: str) -> None:
        """As `remove`; nothing if it was taken already."""
        if item in self._of_address.get(address, ()):
            self.remove(item, address)

    def take(self) -> T:
        self._is_for_newcomers = not self._is_for_newcomers
        if self._is_for_newcomers and self._unserved:
            address = next(reversed(self._unserved))
        else:
            address = next(iter(self._of_address))
        self._unserved.pop(address, None)
        self._of_address.move_to_end(address)
        item, _ = self._of_address[address].popitem(last=self._is_for_newcomers)
        self._count -= 1
        self._remove_if_empty(address)
        return item

    def _remove_if_empty(self, address: str) -> None:
        if not self._of_address[address]:
            del self._of_address[address]
            self._unserved.pop(address, None)


class _Waiter(NamedTuple):
    granted: asyncio.Future[None]
    amount: int


class AddressWaiters:
    def __init__(self) -> None:
        self._queue: AddressQueue[_Waiter] = AddressQueue()

    def __len__(self) -> int:
        return len(self._queue)

    async def wait(self, address: str, give_back: Callable[[], None], amount: int = 1) -> None:
        """Until `grant` chooses this one. `give_back` is called if it was cancelled meanwhile."""
        waiter = _Waiter(asyncio.get_running_loop().create_future(), amount)
        self._queue.add(waiter, address)
        try:
            await waiter.granted
        except asyncio.CancelledError:
            if not waiter.granted.cancelled():
                give_back()
            else:
                self._queue.discard(waiter, address)
            raise

    def grant(self) -> int | None:
        """Wake the next waiter; returns the requested amount. None if there are no waiters."""
        while self._queue:
            waiter = self._queue.take()
            if not waiter.granted.cancelled():  # else its task has not run since
                waiter.granted.set_result(None)
                return waiter.amount
        return None


class FairLock:
    def __init__(self) -> None:
        self._is_taken = False
        self._waiters = AddressWaiters()

    async def acquire(self, address: str) -> None:
        if self._is_taken:
            await self._waiters.wait(address, self.release)
        self._is_taken = True

    def release(self) -> None:
        """Release the lock, or pass it to the next owner."""
        self._is_taken = self._waiters.grant() is not None
