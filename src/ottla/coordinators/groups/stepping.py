"""One step in a shard: decide, write, wait until it is replicated, answer.

Promises  whoever is answered can rely on it: every record that the answer shows is replicated. A
          record that cannot be written has no effect, and the groups know.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from ottla.base.tasks import OwnedTasks
from ottla.base.turns import Turns
from ottla.coordinators.groups.offset_commits import Decision
from ottla.coordinators.groups.shard import GroupShard, Records
from ottla.coordinators.groups.shared import Posted
from ottla.coordinators.runtime import BY_COORDINATOR, NOBODY, Shard, Writer
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.log.append import ProducedBy

A = TypeVar("A")
REPLIES_MAX = 50  # in one turn of the event loop: each of them is encoded in the next
LoadedShard = Shard[GroupShard]


class Stepper:
    def __init__(
        self,
        now_ms: Callable[[], int],
        commit_timeout_ms: int,
        tasks: OwnedTasks,
        turns: Turns,
    ) -> None:
        self._now_ms = now_ms
        self._turns = turns
        self._timeout_s = commit_timeout_ms / 1000
        self._tasks = tasks

    def step(
        self,
        shard: LoadedShard,
        group_id: str,
        act: Callable[[GroupShard], Records],
        *,
        is_atomic: bool = True,
    ) -> int:
        """Let a group act; the offset up to which its outcome depends on the log."""
        end_offset, _ = self._act(
            shard, group_id, lambda state: Decision(act(state), None), is_atomic=is_atomic
        )
        return end_offset

    def decide(
        self, shard: LoadedShard, group_id: str, act: Callable[[GroupShard], Decision[A]]
    ) -> A | Awaitable[A]:
        """The same, for what is answered when the records are replicated."""
        end_offset, answer = self._act(shard, group_id, act)
        return self.answer(shard, end_offset, answer)

    def _act(
        self,
        shard: LoadedShard,
        group_id: str,
        act: Callable[[GroupShard], Decision[A]],
        *,
        is_atomic: bool = True,
    ) -> tuple[int, A]:
        shared = shard.state.shared
        try:
            records, answer = act(shard.state)
        except BaseException:
            shared.cancel_step()
            raise
        try:
            write = shard.write if is_atomic else shard.write_apart
            end_offset = write(records, self._now_ms())
        except BrokerError as error:
            give(shared.end_step(error.code))
            raise
        self._send(shard, end_offset, shared.end_step())
        return end_offset, answer

    def write(
        self,
        shard: LoadedShard,
        decision: Decision[A],
        writer: Writer = NOBODY,
        by: ProducedBy = BY_COORDINATOR,
    ) -> A | Awaitable[A]:
        """Write what was decided about offsets, and answer when it is replicated."""
        end_offset = shard.write(decision.records, self._now_ms(), writer, by)
        return self.answer(shard, end_offset, decision.answer)

    def show(self, shard: LoadedShard, answer: A) -> A | Awaitable[A]:
        """Answer with what the shard knows, which may be newer than what is replicated."""
        return self.answer(shard, shard.partition.log.log_end_offset, answer)

    def answer(self, shard: LoadedShard, end_offset: int, answer: A) -> A | Awaitable[A]:
        if shard.is_replicated(end_offset):
            return answer
        return self._answer_later(shard, end_offset, answer)

    async def _answer_later(self, shard: LoadedShard, end_offset: int, answer: A) -> A:
        await self._replicated(shard, end_offset)
        return answer

    async def _replicated(self, shard: LoadedShard, end_offset: int) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await shard.replicated(end_offset)
        except TimeoutError as error:
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE) from error

    def _send(self, shard: LoadedShard, end_offset: int, posted: Sequence[Posted]) -> None:
        if not posted:
            return
        if len(posted) <= REPLIES_MAX and shard.is_replicated(end_offset):
            give(posted)
        else:
            self._tasks.start(self._send_later(shard, end_offset, posted), name="group answers")

    async def _send_later(
        self, shard: LoadedShard, end_offset: int, posted: Sequence[Posted]
    ) -> None:
        try:
            await self._replicated(shard, end_offset)
        except BrokerError as error:
            posted = [each.failed(error.code) for each in posted]
        give(posted[:REPLIES_MAX])
        for at in range(REPLIES_MAX, len(posted), REPLIES_MAX):
            await self._turns.next()
            give(posted[at : at + REPLIES_MAX])


def give(posted: Sequence[Posted]) -> None:
    for each in posted:
        each.reply.give(each.response)
