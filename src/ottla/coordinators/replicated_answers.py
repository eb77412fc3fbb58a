"""Answers that wait until the records which they depend on are replicated.

Promises  an answer is given once everything below its offset is replicated, or with an error if it
          is not within the timeout. Responses to several members of one shard are given in the
          order of their steps.
Leaves    deciding, appending and applying to `runtime.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.coordinators.shard import DecidedResponse, S, Shard
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

A = TypeVar("A")
RESPONSES_MAX = 50  # per iteration of the event loop: each is encoded in the next one


class ReplicatedAnswers:
    def __init__(self, timeout_s: float, scheduler: StepScheduler, tasks: OwnedTasks) -> None:
        self._timeout_s = timeout_s
        self._scheduler = scheduler
        self._tasks = tasks

    def answer(self, shard: Shard[Any], end_offset: int, answer: A) -> A | Awaitable[A]:
        """The answer, once everything below the offset is replicated."""
        if shard.is_replicated(end_offset):
            return answer
        return self._answer_later(shard, end_offset, answer)

    def show(self, shard: Shard[Any], answer: A) -> A | Awaitable[A]:
        """Answer with the state of the shard, which may be ahead of what is replicated."""
        return self.answer(shard, shard.log_end_offset, answer)

    async def _answer_later(self, shard: Shard[Any], end_offset: int, answer: A) -> A:
        await self.replicated(shard, end_offset)
        return answer

    async def replicated(self, shard: Shard[Any], end_offset: int) -> None:
        """Wait until everything below the offset is replicated; BrokerError on failure or
        timeout."""
        if shard.is_replicated(end_offset):
            return
        try:
            async with asyncio.timeout(self._timeout_s):
                await shard.replicated(end_offset)
        except TimeoutError as error:
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE) from error

    async def all_replicated(self, waiting: Mapping[Shard[S], int]) -> dict[Shard[S], BrokerError]:
        """Wait until these offsets are replicated; returns the errors of those that failed."""
        failed: dict[Shard[S], BrokerError] = {}

        async def wait(shard: Shard[S], end_offset: int) -> None:
            try:
                await self.replicated(shard, end_offset)
            except BrokerError as error:
                failed[shard] = error

        await asyncio.gather(*(wait(*each) for each in waiting.items()))
        return failed

    def respond(
        self, shard: Shard[Any], end_offset: int, responses: Sequence[DecidedResponse]
    ) -> None:
        """Give the responses of a step once its records are replicated."""
        if not responses:
            return
        is_first = not shard.waiting_steps  # of several members, none overtakes one that waited
        if is_first and len(responses) <= RESPONSES_MAX and shard.is_replicated(end_offset):
            give(responses)
        else:
            shard.step_waits()
            later = self._respond_later(shard, end_offset, responses)
            self._tasks.start(later, name="responses of a coordinator")

    async def _respond_later(
        self, shard: Shard[Any], end_offset: int, responses: Sequence[DecidedResponse]
    ) -> None:
        try:
            await self._give_when_replicated(shard, end_offset, responses)
            await self._scheduler.next()  # the requests that waited are answered now
        finally:
            shard.step_answered()

    async def _give_when_replicated(
        self, shard: Shard[Any], end_offset: int, responses: Sequence[DecidedResponse]
    ) -> None:
        try:
            await self.replicated(shard, end_offset)
        except BrokerError as error:
            responses = [each.failed(error.code) for each in responses]
        give(responses[:RESPONSES_MAX])
        for at in range(RESPONSES_MAX, len(responses), RESPONSES_MAX):
            await self._scheduler.next()
            give(responses[at : at + RESPONSES_MAX])


def unreplicated(shards: Iterable[Shard[S]]) -> dict[Shard[S], int]:
    """The shards with unreplicated records, and the end offsets of their logs."""
    waiting = {}
    for each in shards:
        end_offset = each.log_end_offset
        if not each.is_replicated(end_offset):
            waiting[each] = end_offset
    return waiting


def give(responses: Iterable[DecidedResponse]) -> None:
    for each in responses:
        each.give()
