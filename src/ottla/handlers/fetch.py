"""Fetch (key 1), versions 4 to 18.

v4 isolation level · v5 log start offset · v7 sessions · v9 leader epochs · v10 zstd · v11 racks ·
v12 flexible encoding, divergence · v13 topics by id · v15 follower's state · v16 leader hints ·
v17 directory ids · v18 follower's high watermark
Records are not read here: an answer holds ranges of files, which the network sends. Where to begin
is looked up on the event loop as long as that is in memory; what is not, a thread reads first.
Where nothing is to be told yet, the answer waits until enough has come or the client's patience is
over. What counts is what the reader may see: for one of committed data, what is below the last
stable offset.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from ottla.base.cold_reads import ColdRead, Looking, look
from ottla.base.kept_errors import without_frames
from ottla.handlers.context import Context
from ottla.handlers.fetching.answering import response_bytes, response_of
from ottla.handlers.fetching.checking import check_all
from ottla.handlers.fetching.reading import NOTHING, Found, look_at
from ottla.handlers.fetching.wants import TOPIC_IDS_FROM, Wants
from ottla.handlers.quotas.request_time import charge_time, exempt_time
from ottla.handlers.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from ottla.replication.fetch_sessions import WantedPartition
from ottla.replication.waiting import DataWaiter, Watched

SESSION_ERRORS = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
)

AT_ONCE = Looking()  # for which nothing was fetched


def refuse_fetch(
    request: FetchRequest, code: ErrorCode, _message: str, version: int
) -> FetchResponse:
    """Told for the whole answer where it has a place, and for every partition where names go.

    What is wrong with a session is told for the session alone.
    """
    if version >= TOPIC_IDS_FROM or code in SESSION_ERRORS:
        return FetchResponse(error_code=code)
    topics = [
        FetchableTopicResponse(
            topic.topic,
            partitions=[
                PartitionData(part.partition, code, -1, -1, -1, records=NOTHING)
                for part in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return FetchResponse(error_code=code, responses=topics)


@handles(ApiKey.FETCH, versions=range(4, 19), refuse_in_version=refuse_fetch)
def fetch(request: FetchRequest, context: Context) -> FetchResponse | Awaitable[FetchResponse]:
    fetching = Fetching(request, context)
    is_enough = fetching.look()
    if fetching.cold:
        return fetching.find()
    if not is_enough and request.max_wait_ms > 0:
        return fetching.wait(fetching.waiter())
    if fetching.has_checks:
        return fetching.check()
    return fetching.answer()


class Fetching:
    """One request: what it wants, what was found, whether that is enough."""

    def __init__(self, request: FetchRequest, context: Context) -> None:
        self.request = request
        self.context = context
        self.wants = Wants(request, context)
        self.quota = None if self.wants.is_follower else context.parts.quotas.fetch
        self.bytes_max = self.limit_bytes()
        self.found: list[Found] = []
        self.size = 0
        self.cold: list[ColdRead] = []  # what nothing could be said without
        self.looking = AT_ONCE
        self.has_checks = False  # of what was found

    def limit_bytes(self) -> int:
        """The client's wish, the broker's limit, and what the client's quota allows at once."""
        limit = self.context.parts.settings.config.fetch_max_bytes
        most = limit if self.quota is None else int(self.quota.amount_max(self.context))
        return min(self.request.max_bytes, limit, most)

    @property
    def bytes_wanted(self) -> int:
        """Fewer are worth waiting for more."""
        return min(self.request.min_bytes, self.bytes_max)

    # Looking

    def look(self) -> bool:
        """Gather what there is; whether that is enough to answer now, if nothing was `cold`."""
        self.found, self.size, self.cold = [], 0, []
        has_news = self.has_checks = False
        with self.looking:
            for wanted in self.wants.partitions():
                try:
                    found = self.look_at(wanted)
                except ColdRead as cold:
                    self.cold.append(without_frames(cold))
                    self.size += max(0, wanted.partition_bytes_max)  # as if it had all it may have
                    continue
                self.found.append(found)
                self.size += found.size
                if found.check is not None:
                    self.has_checks = True
                has_news = has_news or found.is_news
        session = self.wants.session
        has_partitions = bool(session.partitions if session else self.found)
        return self.size >= self.bytes_wanted or has_news or not has_partitions

    def look_at(self, wanted: WantedPartition) -> Found:
        room = max(0, self.bytes_max - self.size)
        return look_at(wanted, self.wants, self.context, room, is_first=self.size == 0)

    async def look_longer(self) -> bool:
        """As `look`, once all that is cold has been read.

        All partitions again each time: what was there first may be gone or more by now, and a
        wait begins with what they have at one moment.
        """
        is_enough, self.looking = False, Looking()
        while self.cold:
            await asyncio.to_thread(self.looking.fetch, self.cold)
            is_enough = self.look()
        self.looking = AT_ONCE
        return is_enough

    async def is_enough(self) -> bool:
        is_enough = self.look()
        return await self.look_longer() if self.cold else is_enough

    # Waiting

    async def find(self) -> FetchResponse:
        """After a first look that met something cold."""
        if not await self.look_longer() and self.request.max_wait_ms > 0:
            return await self.wait(self.waiter())
        return await self.check()

    async def wait(self, waiter: DataWaiter) -> FetchResponse:
        """Until enough has come that the reader may see, or the time is up.

        It listens already: this begins a turn of the loop later, and others may come before.
        """
        loop = asyncio.get_running_loop()
        left_s = self.request.max_wait_ms / 1000
        deadline_s = loop.time() + left_s
        await waiter.wait(left_s)
        while not await self.is_enough() and (left_s := deadline_s - loop.time()) > 0:
            await self.waiter().wait(left_s)
        return await self.check()

    def waiter(self) -> DataWaiter:
        """For a session, which hears of all its partitions, waiting costs the same for any number.

        A reader of committed data hears of bytes when they become visible, and where some are
        there already, nobody can say how many will.
        """
        missing = self.bytes_wanted - self.size
        session, is_committed = self.wants.session, self.wants.is_committed
        watched: list[Watched]
        if session is not None:
            watched = [session]
        else:
            watched = [each.partition for each in self.found if each.partition is not None]
        if is_committed and (session is not None or self.has_unstable):
            missing = 0
        return DataWaiter(watched, missing, is_committed=is_committed)

    @property
    def has_unstable(self) -> bool:
        answers = (each.answer for each in self.found)
        return any(each.last_stable_offset < each.high_watermark for each in answers)

    # Checking

    async def check(self) -> FetchResponse:
        if self.has_checks:
            await check_all(self.found, self.read_again)
            self.size = sum(found.size for found in self.found)
        return self.answer()

    async def read_again(self, wanted: WantedPartition) -> Found:
        """The file has changed: what the partition has to tell now, within the same bounds."""
        before = next(found for found in self.found if found.wanted is wanted)
        self.size -= before.size
        found = await look(lambda: self.look_at(wanted))
        self.size += found.size
        return found

    # Answering

    def answer(self) -> FetchResponse:
        if self.is_throttled():
            # Nothing this time, and the session is as it was; a new one was not opened.
            self.wants.forget_new_session()
            return FetchResponse(session_id=self.wants.session_id)
        return response_of(self.found, self.wants, self.context)

    def is_throttled(self) -> bool:
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
        size = response_bytes(self.found, self.wants, context.version)
        context.throttle(quota.charge(context, size))
        if context.throttle_ms == 0 or quota.is_beyond(context, size):
            return False
        quota.note(context, -size)
        return True
