"""Fetch requests for very many partitions: as `operation.py`, in slices.

Promises  the event loop is blocked for a slice at a time. A request watches all its partitions
          before it reads them, so that no change is missed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from functools import partial

from ottla.base.files.readers import CACHED, LookUpReader
from ottla.base.scheduling.steps import Steps
from ottla.handlers.fetching.answering import measuring, responding
from ottla.handlers.fetching.operation import FetchOperation
from ottla.handlers.serving.disposal import cut_up, freeing
from ottla.handlers.serving.large_responses import close_account
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.replication.fetch_waiters import LargeWaiter

ANSWER_BYTES = 40  # of a partition without records
ABORTED_BYTES = 16


class LargeFetchOperation(FetchOperation):
    def serving(self) -> Steps[FetchResponse | Awaitable[FetchResponse]]:
        try:
            yield from self.requested.updating_session()
            return (yield from self.serving_partitions())
        except GeneratorExit:
            self.discard()
            raise

    def serving_partitions(self) -> Steps[FetchResponse | Awaitable[FetchResponse]]:
        self.context.on_refusal = self.requested.close_new_session
        try:
            is_enough = yield from self.looking_up_all()
            if self.missing or self.unchecked or not is_enough:
                return self.find_later(is_enough)
            return (yield from self.answering())
        except GeneratorExit:
            self.requested.close_new_session()
            raise

    def discard(self) -> None:
        """The client has disconnected: free the memory of the request in the next iterations of the
        event loop."""
        disposal = self.context.parts.disposal
        disposal.take(cut_up(self.found))
        disposal.take(cut_up(list(self.requested.named.values())))

    def looking_up_all(self) -> Steps[bool]:
        yield from freeing(self.found)
        self.begin_look_up()
        for wanted in (yield from self.requested.ordering()):
            if self.requested.is_ended:
                break
            aborted = self.aborted
            self.take(wanted)
            yield ANSWER_BYTES + ABORTED_BYTES * (self.aborted - aborted)
        return self.has_enough

    async def find_later(self, is_enough: bool) -> FetchResponse:
        """Read what is not cached in a thread, or wait for data."""
        if self.missing:
            is_enough = await self.fetch_missing()
        if not is_enough and self.may_park:
            await self.park()
        return await self.check()

    async def fetch_missing(self) -> bool:
        is_enough, self.reader = False, (reader := LookUpReader())
        while self.missing:
            await self.context.parts.scheduler.in_thread(partial(reader.fetch, self.missing))
            is_enough = await self.context.parts.scheduler.run(self.looking_up_all())
        self.reader = CACHED
        return is_enough

    async def is_enough(self) -> bool:
        is_enough = await self.context.parts.scheduler.run(self.looking_up_all())
        return await self.fetch_missing() if self.missing else is_enough

    # Waiting

    async def park(self) -> None:
        """Until there is enough data that the reader may see, or the deadline has passed.

        Between two reads it pauses for as long as the first one took: however much arrives, half
        of the time is left to other requests.
        """
        loop, parts = asyncio.get_running_loop(), self.context.parts
        deadline_s = loop.time() + self.request.max_wait_ms / 1000
        waiter = LargeWaiter(is_committed=self.requested.is_committed)
        partitions = self.parked_partitions
        parts.parked_fetches.add(partitions)
        try:
            await parts.scheduler.run(self.joining(waiter))
            await parts.scheduler.run(self.freeing_request())
            await parts.scheduler.run(freeing(self.found))
            close_account(self.context)  # others build their responses while this one waits
            while True:
                waiter.begin()
                began_s = loop.time()
                is_enough = await self.is_enough()
                ended_s = loop.time()
                left_s = deadline_s - ended_s
                if is_enough or left_s <= 0:
                    return
                waiter.expect(self.bytes_missing)
                await parts.scheduler.run(freeing(self.found))
                await waiter.wait(left_s, pause_s=ended_s - began_s)
        finally:
            parts.parked_fetches.remove(partitions)
            waiter.close()

    def joining(self, waiter: LargeWaiter) -> Steps[None]:
        if self.requested.session is not None:
            waiter.join(self.requested.session)
            return
        for each in self.found:
            if each.partition is not None:
                fetches = each.partition.fetches
                is_follower = self.requested.is_follower
                waiter.join(fetches.follower_watch if is_follower else fetches)
            yield 0

    def freeing_request(self) -> Steps[None]:
        """Its partitions have been copied, and duplicates need not be kept."""
        topics = list(self.request.topics)
        self.request.topics = ()
        for topic in topics:
            partitions = list(topic.partitions)
            topic.partitions = ()
            yield from freeing(partitions)
            yield 0
        yield from freeing(topics)

    # Answering

    async def check(self) -> FetchResponse:
        parts = self.context.parts
        if self.unchecked:
            await self.check_unchecked()
        return await parts.large_responses.build(self.answering_counted(), self.context)

    def answering_counted(self) -> Steps[FetchResponse]:
        """As `answering`; the response counts by its size, unless a first look was counted."""
        account = self.context.account
        size = ANSWER_BYTES * len(self.found) + ABORTED_BYTES * self.aborted
        yield max(0, size - (0 if account is None else account.size))
        return (yield from self.answering())

    def answering(self) -> Steps[FetchResponse]:
        size = 0
        if self.quota is not None:
            size = yield from measuring(self.found, self.requested, self.context.version)
        if self.is_throttled(size):
            return self.empty_response()
        response = yield from responding(self.found, self.requested, self.context)
        self.note_costs()
        yield from freeing(self.found)
        yield from self.requested.freeing_named()
        return response
