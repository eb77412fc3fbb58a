"""One Fetch request: what it wants, what was found, whether that is enough, and what is answered.

Promises  a reader for which there is nothing yet waits until enough has come or its patience is
          over, unless waiting fetches hold too many partitions already: then it is answered at
          once, and not read for a moment, so that it does not ask again and again.
Leaves    requests for very many partitions to `large.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial

from ottla.base.kept_errors import without_frames
from ottla.base.readers import CACHED, CachedReader, LookUpReader, NotCached, Reader
from ottla.base.steps import looking_up
from ottla.handlers.fetching.answering import response_bytes, response_of
from ottla.handlers.fetching.checking import check_all
from ottla.handlers.fetching.reading import Found, look_up
from ottla.handlers.fetching.requested import Wants
from ottla.handlers.quotas.request_time import charge_time, exempt_time
from ottla.handlers.serving.context import Context
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.replication.fetch_sessions import WantedPartition
from ottla.replication.waiting import DataWaiter, Watched

UNPARKED_THROTTLE_MS = 100
LOOKED_AT_TOGETHER_MAX = 20  # partitions of one fetch
ABORTED_HERE_MAX = 500  # of one response: with more it is encoded in a thread


class Fetching:
    def __init__(self, request: FetchRequest, context: Context) -> None:
        self.request = request
        self.context = context
        self.wants = Wants(request, context)
        self.quota = None if self.wants.is_follower else context.parts.quotas.fetch
        self.bytes_max = self.limit_bytes()
        self.found: list[Found] = []
        self.size = 0
        self.missing: list[NotCached] = []  # what nothing could be said without
        self.reader: CachedReader = CACHED
        self.unchecked: list[int] = []  # places in `found` that must be checked before they leave
        self.has_news = False  # something that cannot wait for more data
        self.has_unstable = False  # data that is there, but not committed yet
        self.aborted = 0  # transactions, of all partitions
        self.is_unparked = False  # it would have waited, had there been room

    def limit_bytes(self) -> int:
        """The client's wish, the broker's limit, and what the client's quota allows at once."""
        limit = self.context.parts.config.broker.fetch_max_bytes
        most = limit if self.quota is None else int(self.quota.amount_max(self.context))
        return min(self.request.max_bytes, limit, most)

    @property
    def bytes_wanted(self) -> int:
        """Fewer are worth waiting for more."""
        return min(self.request.min_bytes, self.bytes_max)

    # Looking up

    def look_up_all(self) -> bool:
        """Gather what there is; whether that is enough to answer now, if nothing is `missing`."""
        for wanted in self.wants.partitions():
            self.take(wanted)
        return self.has_enough

    def look_up_all_again(self) -> bool:
        self.begin_look_up()
        return self.look_up_all()

    def begin_look_up(self) -> None:
        self.found, self.unchecked, self.missing = [], [], []
        self.size = self.aborted = 0
        self.has_news = self.has_unstable = False

    def take(self, wanted: WantedPartition) -> None:
        """What one partition has to tell."""
        try:
            found = self.look_up(self.reader, wanted)
        except NotCached as missing:
            self.missing.append(without_frames(missing))
            self.size += max(0, wanted.partition_bytes_max)  # as if it had all it may have
            return
        if found.check is not None:
            self.unchecked.append(len(self.found))
        self.found.append(found)
        self.size += found.size
        answer = found.answer
        if answer.error_code or answer.diverging_epoch is not None:
            self.has_news = True
        if self.wants.is_committed:
            self.aborted += len(answer.aborted_transactions or ())
            if answer.last_stable_offset < answer.high_watermark:
                self.has_unstable = True

    @property
    def has_enough(self) -> bool:
        session = self.wants.session
        has_partitions = bool(session.partitions if session else self.found)
        return self.size >= self.bytes_wanted or self.has_news or not has_partitions

    def look_up(self, reader: Reader, wanted: WantedPartition) -> Found:
        room = max(0, self.bytes_max - self.size)
        return look_up(reader, wanted, self.wants, self.context, room, is_first=self.size == 0)

    async def fetch_missing(self) -> bool:
        """As `look_up_all`, once what is not cached has been read.

        All partitions again each time: what was there first may be gone or more by now, and a
        wait begins with what they have at one moment.
        """
        is_enough, self.reader = False, (reader := LookUpReader())
        while self.missing:
            await self.context.parts.turns.in_thread(partial(reader.fetch, self.missing))
            is_enough = self.look_up_all_again()
        self.reader = CACHED
        return is_enough

    async def is_enough(self) -> bool:
        """Many fetches may be woken in one turn of the event loop, by a record or by a time that
        they share: those that look at many partitions do so in one turn each."""
        if self.wants.count > LOOKED_AT_TOGETHER_MAX:
            await self.context.parts.turns.next()
        is_enough = self.look_up_all_again()
        return await self.fetch_missing() if self.missing else is_enough

    # Waiting

    @property
    def may_park(self) -> bool:
        """Whether it is worth waiting, and there is room to wait."""
        if self.request.max_wait_ms <= 0:
            return False
        if self.context.parts.parked_fetches.has_room(self.parked_partitions):
            return True
        self.is_unparked = True
        return False

    @property
    def parked_partitions(self) -> int:
        return len(self.wants.named)

    async def find(self) -> FetchResponse:
        """After a first look-up for which something was not cached."""
        if not await self.fetch_missing() and self.may_park:
            return await self.begin_wait()
        return await self.check()

    def begin_wait(self) -> Awaitable[FetchResponse]:
        """Wait until enough has come that the reader may see, or the time is up.

        It is counted and listens from now on: the coroutine starts in the next turn of the event
        loop, and other requests may be served before.
        """
        self.context.parts.parked_fetches.partitions += self.parked_partitions
        return self._wait(self.waiter())

    async def _wait(self, waiter: DataWaiter) -> FetchResponse:
        """Removes what `begin_wait` has set up, so it has to be started."""
        loop, parked = asyncio.get_running_loop(), self.context.parts.parked_fetches
        left_s = self.request.max_wait_ms / 1000
        deadline_s = loop.time() + left_s
        try:
            await waiter.wait(left_s)
            while not await self.is_enough() and (left_s := deadline_s - loop.time()) > 0:
                await self.waiter().wait(left_s)
        finally:
            parked.partitions -= self.parked_partitions
        return await self.check()

    def waiter(self) -> DataWaiter:
        """For a session, which hears of all its partitions, waiting costs the same for any number.
        What was found is looked for again, and not kept while it waits."""
        watched: list[Watched]
        if self.wants.session is not None:
            watched = [self.wants.session]
        else:
            watched = [each.partition for each in self.found if each.partition is not None]
        self.found = []
        return DataWaiter(watched, self.bytes_missing, is_committed=self.wants.is_committed)

    @property
    def bytes_missing(self) -> int:
        """A reader of committed data hears of bytes when they become visible, and where some are
        there already, nobody can say how many will."""
        if self.wants.is_committed and (self.wants.session is not None or self.has_unstable):
            return 0
        return self.bytes_wanted - self.size

    # Checking

    async def check(self) -> FetchResponse:
        if self.unchecked:
            await check_all(self.found, self.unchecked, self.read_again, self.context.parts.turns)
        return self.answer()

    async def read_again(self, before: Found) -> Found:
        """The file has changed: what the partition has to tell now, within the same bounds."""
        self.size -= before.size
        found = await self.context.parts.turns.run(
            looking_up(lambda reader: self.look_up(reader, before.wanted))
        )
        self.size += found.size
        return found

    # Answering

    def answer(self) -> FetchResponse:
        size = 0
        if self.quota is not None:
            size = response_bytes(self.found, self.wants, self.context.version)
        if self.is_throttled(size):
            return self.nothing()
        if self.is_unparked or self.aborted:
            self.note_costs()
        return response_of(self.found, self.wants, self.context)

    def nothing(self) -> FetchResponse:
        """This time, and the session is as it was; a new one was not opened."""
        self.wants.forget_new_session()
        return FetchResponse(session_id=self.wants.session_id)

    def note_costs(self) -> None:
        if self.is_unparked and not self.wants.is_follower:
            self.context.throttle(min(self.request.max_wait_ms, UNPARKED_THROTTLE_MS))
        if self.aborted > ABORTED_HERE_MAX:
            self.context.is_large = True

    def is_throttled(self, size: int) -> bool:
        """Whether the reader has to wait. It then gets nothing, which costs it nothing.

        Only what is so large that it would never be read has to be waited for afterwards.
        """
        context, quota = self.context, self.quota
        if self.wants.is_follower:
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
