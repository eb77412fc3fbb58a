"""Answers about many groups: read in slices, shown when what they tell of is replicated.

Promises  a group that is asked for twice in the same way costs, and is answered, once. What is read
          of a shard is shown once the shard's log is replicated as far as it was read; if that
          fails, or another broker leads by then, the groups of this shard get the error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TypeVar

from ottla.base.turns import Slices
from ottla.coordinators.groups.stepping import LoadedShard
from ottla.handlers.context import Context
from ottla.protocol.errors import BrokerError

A = TypeVar("A")
R = TypeVar("R")

REFUSAL_BYTES = 32  # of a refusal, besides the group's name and the message


class GroupReader:
    """What was read of which shard."""

    def __init__(self, context: Context) -> None:
        self._groups = context.parts.groups
        self._turns = context.parts.turns
        self._read: dict[LoadedShard, list[int]] = {}  # places in the list of answers

    def read(
        self,
        at: int,
        group_id: str,
        read: Callable[[LoadedShard], Slices[A]],
        refuse: Callable[[BrokerError], A],
    ) -> Slices[A]:
        """The answer for one group, which will be at this place of all answers."""
        try:
            shard = self._groups.shard_of(group_id)
            answer = yield from read(shard)
            shard.check_current()
        except BrokerError as error:
            yield REFUSAL_BYTES + len(group_id) + len(error.message)
            return refuse(error)
        self._read.setdefault(shard, []).append(at)
        return answer

    def show(
        self, answers: list[A], refuse: Callable[[int, BrokerError], A]
    ) -> list[A] | Awaitable[list[A]]:
        """The answers, at once if all of them may be shown."""
        waiting = self._groups.unreplicated(self._read)
        return self._show_later(answers, waiting, refuse) if waiting else answers

    async def _show_later(
        self,
        answers: list[A],
        waiting: dict[LoadedShard, int],
        refuse: Callable[[int, BrokerError], A],
    ) -> list[A]:
        failed = await self._groups.replicated(waiting)

        def refusing() -> Slices[None]:
            for shard, error in failed.items():
                for at in self._read[shard]:
                    answers[at] = refuse(at, error)
                    yield 0

        await self._turns.run(refusing())
        return answers


def read_groups(
    group_ids: Iterable[str],
    context: Context,
    read: Callable[[str, LoadedShard], Slices[A]],
    refuse: Callable[[str, BrokerError], A],
) -> Slices[list[A] | Awaitable[list[A]]]:
    """An answer for each group, each once."""
    reader, answers, wanted = GroupReader(context), list[A](), dict[str, None]()
    for group_id in group_ids:
        if group_id not in wanted:
            wanted[group_id] = None
            answers.append(
                (
                    yield from reader.read(
                        len(answers),
                        group_id,
                        partial(read, group_id),
                        partial(refuse, group_id),
                    )
                )
            )
        yield 0
    names = list(wanted)
    return reader.show(answers, lambda at, error: refuse(names[at], error))


def respond(
    answers: list[A] | Awaitable[list[A]], respond_with: Callable[[list[A]], R]
) -> R | Awaitable[R]:
    return respond_with(answers) if isinstance(answers, list) else _later(answers, respond_with)


async def _later(answers: Awaitable[list[A]], respond_with: Callable[[list[A]], R]) -> R:
    return respond_with(await answers)
