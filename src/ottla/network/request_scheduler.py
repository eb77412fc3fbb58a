"""Decides whose requests begin next while clients send more than the event loop can serve.

Owns      the time that requests have taken in this iteration of the loop, and the connections
          that wait for a later one.
Promises  requests begin at once while an iteration is short. Beyond `IMMEDIATE_S_MAX` their
          connections wait; waiting ones are served for `QUEUED_S_MAX` in each iteration, and all
          connections are read in between. Addresses share that time equally, and so do the
          connections of one address: a client with few or short requests does not wait for all
          the requests of the others. `newcomers` is exact: connections whose first turn has not
          come. `listener.py` accepts fewer connections meanwhile: otherwise new connections would
          be accepted faster than they are served, and each has an equal part of the time of its
          address.
Leaves    how much begins at a time to the connection: little, and at least one request. The order
          to `fair_queue.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol
from weakref import WeakValueDictionary

from ottla.network.fair_queue import FairQueue, Share

log = logging.getLogger(__name__)

IMMEDIATE_S_MAX = 0.001
QUEUED_S_MAX = 0.004


class ScheduledConnection(Protocol):
    share: ConnectionShare

    def begin_requests(self) -> None: ...

    def close(self, reason: str) -> None: ...


class AddressShare(Share):
    """The time of one address, and its connections that wait."""

    __slots__ = ("__weakref__", "is_queued", "waiting")

    def __init__(self) -> None:
        super().__init__()
        self.is_queued = False
        self.waiting: FairQueue[ScheduledConnection] = FairQueue()


class ConnectionShare(Share):
    """The time of one connection, as a part of the time of its address."""

    __slots__ = ("address", "is_new")

    def __init__(self, address: AddressShare) -> None:
        """Expected to take as long as the address's last connection did: otherwise a client that
        opens a new connection for each large request would be served before all others."""
        super().__init__()
        self.address = address
        self.charge_s = address.charge_s
        self.is_new = True  # it was never taken from the queue


class RequestScheduler:
    def __init__(self, loop: asyncio.AbstractEventLoop, now_s: Callable[[], float]) -> None:
        """`now_s` is the CPU time of the thread: time in which the machine runs another process is
        not charged."""
        self._loop = loop
        self._now_s = now_s
        self.is_busy = False  # then connections with requests are queued
        self.newcomers = 0  # connections that wait for their first turn
        self._immediate_s = 0.0  # spent on requests that began at once, since it was last busy
        self._addresses: WeakValueDictionary[str, AddressShare] = WeakValueDictionary()
        self._waiting: FairQueue[AddressShare] = FairQueue()

    def new_share(self, address: str) -> ConnectionShare:
        """The share of a new connection."""
        known = self._addresses.get(address)
        if known is None:
            known = self._addresses[address] = AddressShare()
        return ConnectionShare(known)

    def charge_immediate(self, seconds: float) -> None:
        """Requests began at once, and took this long."""
        self._immediate_s += seconds
        if self._immediate_s > IMMEDIATE_S_MAX:
            # Several iterations may have added up to this: then a client waits for one iteration.
            self._immediate_s = 0.0
            self._schedule_iteration()

    def enqueue(self, connection: ScheduledConnection) -> None:
        """Call its `begin_requests` when it is next."""
        address = connection.share.address
        address.waiting.add(connection.share, connection)
        self.newcomers += connection.share.is_new
        if not address.is_queued:
            address.is_queued = True
            self._waiting.add(address, address)

    def _schedule_iteration(self) -> None:
        self.is_busy = True
        self._loop.call_soon(self._serve_queued)

    def _serve_queued(self) -> None:
        if not self._waiting:
            self.is_busy = False
            return  # often, and reading the clock is a system call
        now_s = self._now_s()
        end_s = now_s + QUEUED_S_MAX
        while self._waiting and now_s < end_s:
            now_s = self._serve_next(now_s)
        if self._waiting:
            self._schedule_iteration()
        else:
            self.is_busy = False

    def _serve_next(self, began_s: float) -> float:
        """Serve one connection; return the time at which it ended."""
        address = self._waiting.take()
        connection = address.waiting.take()
        share = connection.share
        self.newcomers -= share.is_new
        share.is_new = False
        try:
            connection.begin_requests()
        except Exception:
            log.exception("bug while beginning requests of %r", connection)
            connection.close("a bug")
        ended_s = self._now_s()
        address.waiting.charge(share, ended_s - began_s)
        self._waiting.charge(address, ended_s - began_s)
        address.is_queued = bool(address.waiting)
        if address.is_queued:
            self._waiting.add(address, address)
        return ended_s
