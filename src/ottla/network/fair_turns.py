"""Whose requests begin next, while clients ask for more than the event loop can do.

Owns      the time that requests have taken in this turn of the loop, and who waits for the next.
Promises  requests begin at once as long as a turn is short. Beyond `TURN_S` their connections wait,
          and those that wait are served for `SERVING_S` a turn, between which everybody is read.
          Addresses share that time equally, and so do the connections of one address: whoever asks
          for little waits for little, however many ask for how much.
Leaves    to the connection how much it begins in its turn: little, and at least one request. Who is
          next to `fair_queue.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import thread_time
from typing import Protocol
from weakref import WeakValueDictionary

from ottla.network.fair_queue import FairQueue, Share

log = logging.getLogger(__name__)

TURN_S = 0.001
SERVING_S = 0.004


class Client(Protocol):
    """A connection that has requests."""

    place: Place

    def begin_requests(self) -> None: ...

    def close(self, reason: str) -> None: ...


class Address(Share):
    """Its part of the time, and which of its connections wait."""

    __slots__ = ("__weakref__", "is_in_line", "waiting")

    def __init__(self) -> None:
        super().__init__()
        self.is_in_line = False
        self.waiting: FairQueue[Client] = FairQueue()


class Place(Share):
    """One connection's part of the time of its address."""

    __slots__ = ("address",)

    def __init__(self, address: Address) -> None:
        """Expected to ask for as much as the last connection did: else whoever makes a new one for
        each large request would come before everybody else."""
        super().__init__()
        self.address = address
        self.charge_s = address.charge_s


class FairTurns:
    def __init__(
        self, loop: asyncio.AbstractEventLoop, now_s: Callable[[], float] = thread_time
    ) -> None:
        """Nobody is charged for the time in which the machine runs something else."""
        self._loop = loop
        self._now_s = now_s
        self.is_busy = False  # then whoever has requests waits
        self._spent_s = 0.0  # on requests that began at once, since the last turn that was busy
        self._addresses: WeakValueDictionary[str, Address] = WeakValueDictionary()
        self._waiting: FairQueue[Address] = FairQueue()

    def place_of(self, address: str) -> Place:
        """For a new connection."""
        known = self._addresses.get(address)
        if known is None:
            known = self._addresses[address] = Address()
        return Place(known)

    def spend(self, seconds: float) -> None:
        """Requests began at once, and took so long."""
        self._spent_s += seconds
        if self._spent_s > TURN_S:
            # A few short turns may have been taken for one: then the next client waits for a turn.
            self._spent_s = 0.0
            self._be_busy()

    def wait(self, client: Client) -> None:
        """Call its `begin_requests` when its turn has come."""
        address = client.place.address
        address.waiting.add(client.place, client)
        if not address.is_in_line:
            address.is_in_line = True
            self._waiting.add(address, address)

    def _be_busy(self) -> None:
        self.is_busy = True
        self._loop.call_soon(self._next_turn)

    def _next_turn(self) -> None:
        now_s = self._now_s()
        end_s = now_s + SERVING_S
        while self._waiting and now_s < end_s:
            now_s = self._serve_next(now_s)
        if self._waiting:
            self._be_busy()
        else:
            self.is_busy = False

    def _serve_next(self, began_s: float) -> float:
        """What time it is then."""
        address = self._waiting.take()
        client = address.waiting.take()
        place = client.place
        try:
            client.begin_requests()
        except Exception:
            log.exception("bug while beginning requests of %r", client)
            client.close("a bug")
        ended_s = self._now_s()
        address.waiting.charge(place, ended_s - began_s)
        self._waiting.charge(address, ended_s - began_s)
        address.is_in_line = bool(address.waiting)
        if address.is_in_line:
            self._waiting.add(address, address)
        return ended_s
