"""One Fetch request: reading its partitions, waiting for enough data, and the response.

Promises  a request without enough data waits for more, until its deadline. If waiting fetches hold
          too many partitions already, it gets a response at once and is throttled shortly, so
          that the client does not repeat it at full speed.
Leaves    requests for very many partitions to `large.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial
from math import ceil

from ottla.base.files.readers import CACHED, CachedReader, LookUpReader, NotCached, Reader
from ottla.base.memory.stored_errors import without_traceback
from ottla.base.scheduling.steps import looking_up
from ottla.handlers.fetching.answering import response_bytes, response_of
from ottla.handlers.fetching.checking import check_all
from ottla.handlers.fetching.partition_read import NOTHING, PartitionRead, look_up
from ottla.handlers.fetching.requested import RequestedPartitions
from ottla.handlers.quotas.request_time import charge_time, exempt_time
from ottla.handlers.serving.context import Context
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.replication.fetch_sessions import WantedPartition
from ottla.replication.fetch_waiters import DataWaiter, Watchable

UNPARKED_THROTTLE_MS = 100
READ_TOGETHER_MAX = 20  # partitions of one fetch
ABORTED_HERE_MAX = 500  # of one response: with more it is encoded in a thread


class FetchOperation:
    def __init__(
        self, request: FetchRequest, context: Context, requested: RequestedPartitions | None = None
    ) -> None:
        """`requested` is given if its session was updated before."""
        self.request = request
        self.context = context
        self.requested = requested or RequestedPartitions(request, context)
        self.quota = None if self.requested.is_follower else context.parts.quotas.fetch
        self.bytes_max = self.limit_bytes()
        self.found: list[PartitionRead] = []
        self.size = 0
        self.missing: list[NotCached] = []  # positions that a thread must read first
        self.reader: CachedReader = CACHED
        # indexes in `found` that must be checked before they are sent
        self.unchecked: list[int] = []
        self.has_urgent = False  # something that cannot wait for more data
        self.has_unstable = False  # there is data that is not committed yet
        self.aborted = 0  # transactions, of all partitions
        self.is_unparked = False  # it did not wait because there was no room

    def limit_bytes(self) -> int:
        """The least of the request's limit, the broker's limit, and the client's quota."""
        limit = self.context.parts.config.broker.fetch_max_bytes
        most = limit if self.quota is None else int(self.quota.amount_max(self.context))
        return min(self.request.max_bytes, limit, most)

    @property
    def bytes_wanted(self) -> int:
        """With fewer bytes the request waits for more."""
        return min(self.request.min_bytes, self.bytes_max)

    # Looking up

    def look_up_all(self) -> bool:
        """Read all partitions. Returns whether there is enough data, if nothing is `missing`."""
        if self.requested.is_ended:
            return True
        for wanted in self.requested.partitions():
            self.take(wanted)
        return self.has_enough

    def look_up_all_again(self) -> bool:
        self.begin_look_up()
        return self.look_up_all()

    def begin_look_up(self) -> None:
        self.found, self.unchecked, self.missing = [], [], []
        self.size = self.aborted = 0
        self.has_urgent = self.has_unstable = False

    def take(self, wanted: WantedPartition) -> None:
        """Read one partition."""
        try:
            found = self.look_up(self.reader, wanted)
        except NotCached as missing:
            self.missing.append(without_traceback(missing))
            self.size += max(0, wanted.partition_bytes_max)  # assumed to be full
            return
        if found.check is not None:
            self.unchecked.append(len(self.found))
        self.found.append(found)
        self.size += found.size
        answer = found.answer
        if (
            answer.error_code
            or answer.diverging_epoch is not None
            or answer.preferred_read_replica >= 0
        ):
            self.has_urgent = True
        if self.requested.is_committed:
            self.aborted += len(answer.aborted_transactions or ())
            if answer.last_stable_offset < answer.high_watermark:
                self.has_unstable = True

    @property
    def has_enough(self) -> bool:
        session = self.requested.session
        has_partitions = bool(session.partitions if session else self.found)
        if self.size >= self.bytes_wanted or self.has_urgent or not has_partitions:
            return True
        return self.requested.must_respond

    def look_up(self, reader: Reader, wanted: WantedPartition) -> PartitionRead:
        room = max(0, self.bytes_max - self.size)
        return look_up(reader, wanted, self.requested, self.context, room, is_first=self.size == 0)

    async def fetch_missing(self) -> bool:
        """As `look_up_all`, once what is not cached has been read.

        Each time all partitions are read again: they may have changed, and a wait must begin with
        their state at one moment.
        """
        is_enough, self.reader = False, (reader := LookUpReader())
        while self.missing:
            await self.context.parts.scheduler.in_thread(partial(reader.fetch, self.missing))
            is_enough = self.look_up_all_again()
        self.reader = CACHED
        return is_enough

    async def is_enough(self) -> bool:
        """A record or a deadline may wake many fetches in one iteration of the event loop: those
        with many partitions wait for a slice each."""
        if self.requested.count > READ_TOGETHER_MAX:
            await self.context.parts.scheduler.next()
        is_enough = self.look_up_all_again()
        return await self.fetch_missing() if self.missing else is_enough

    # Waiting

    @property
    def may_park(self) -> bool:
        """Whether the request may wait, and there is room for it."""
        if self.request.max_wait_ms <= 0:
            return False
        if self.context.parts.parked_fetches.has_room(self.parked_partitions):
            return True
        self.is_unparked = True
        return False

    @property
    def parked_partitions(self) -> int:
        return len(self.requested.named)

    async def find(self) -> FetchResponse:
        """Continue after a first look-up for which something was not cached."""
        if not await self.fetch_missing() and self.may_park:
            return await self.begin_wait()
        return await self.check()

    def begin_wait(self) -> Awaitable[FetchResponse]:
        """Wait until there is enough data that the reader may see, or the deadline has passed.

        It is counted and watches its partitions from now on: the coroutine starts in the next
        iteration of the event loop, and other requests may be served before.
        """
        self.context.parts.parked_fetches.add(self.parked_partitions)
        return self._wait(self.waiter())

    async def _wait(self, waiter: DataWaiter) -> FetchResponse:
        """Undoes what `begin_wait` has set up, so it must be started."""
        loop, parked = asyncio.get_running_loop(), self.context.parts.parked_fetches
        left_ms = self.request.max_wait_ms
        deadline_s = loop.time() + left_ms / 1000
        try:
            await waiter.wait(left_ms)
            while not await self.is_enough() and (left_s := deadline_s - loop.time()) > 0:
                await self.waiter().wait(ceil(left_s * 1000))
        finally:
            parked.remove(self.parked_partitions)
        return await self.check()

    def waiter(self) -> DataWaiter:
        """A session is notified of all its partitions, so waiting costs the same for any number.
        What was read is not kept during the wait, but read again."""
        watched: list[Watchable]
        if self.requested.session is not None:
            watched = [self.requested.session]
        else:
            known = [each.partition for each in self.found if each.partition is not None]
            is_follower = self.requested.is_follower
            fetches = [each.fetches for each in known]
            watched = [each.follower_watch if is_follower else each for each in fetches]
        self.found = []
        parts = self.context.parts
        return DataWaiter(
            watched,
            self.bytes_missing,
            parts.timers,
            parts.task_wake_ups,
            is_committed=self.requested.is_committed,
        )

    @property
    def bytes_missing(self) -> int:
        """With READ_COMMITTED, bytes are reported when they become visible; how many uncommitted
        bytes will become visible is not known."""
        if self.requested.is_committed and (
            self.requested.session is not None or self.has_unstable
        ):
            return 0
        return self.bytes_wanted - self.size

    # Checking

    async def check(self) -> FetchResponse:
        if self.unchecked:
            await self.check_unchecked()
        return self.answer()

    async def check_unchecked(self) -> None:
        scheduler = self.context.parts.scheduler
        await check_all(self.found, self.unchecked, self.read_again, scheduler)

    async def read_again(self, before: PartitionRead) -> PartitionRead:
        """The file has changed: read the partition again, within the same bounds."""
        self.size -= before.size
        if self.requested.is_ended:
            before.answer.records = NOTHING
            return before._replace(check=None)
        found = await self.context.parts.scheduler.run(
            looking_up(lambda reader: self.look_up(reader, before.wanted))
        )
        self.size += found.size
        return found

    # Answering

    def answer(self) -> FetchResponse:
        size = 0
        if self.quota is not None:
            size = response_bytes(self.found, self.requested, self.context.version)
        if self.is_throttled(size):
            return self.empty_response()
        if self.is_unparked or self.aborted:
            self.note_costs()
        return response_of(self.found, self.requested, self.context)

    def empty_response(self) -> FetchResponse:
        """The session is unchanged, and a new one is closed."""
        self.requested.close_new_session()
        return FetchResponse(session_id=self.requested.session_id)

    def note_costs(self) -> None:
        if self.is_unparked and not self.requested.is_follower:
            self.context.throttle(min(self.request.max_wait_ms, UNPARKED_THROTTLE_MS))
        if self.aborted > ABORTED_HERE_MAX:
            self.context.is_large = True

    def is_throttled(self, size: int) -> bool:
        """Whether the client is over its quota: it then gets an empty response, which is not
        counted.

        Only a response so large that it would never be sent is sent, and throttled afterwards.
        """
        context, quota = self.context, self.quota
        if self.requested.is_follower:
            exempt_time(context)
            return False
        charge_time(context)
        if quota is None:
            return context.throttle_ms > 0
        context.throttle(quota.charge(context, size))
        if context.throttle_ms == 0 or quota.is_beyond(context, size):
            return False
        quota.note(context, -size)
        return True
