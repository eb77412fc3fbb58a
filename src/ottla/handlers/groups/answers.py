"""Results for many groups: read in slices, returned when the state they show is replicated.

Promises  a group that a request repeats is read once; its result is repeated, and its size counts
          each time. Results of a shard are returned when the shard's log is replicated as far
          as it was read; if that fails, or another broker leads by then, the groups of this
          shard get the error.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable
from functools import partial
from typing import Generic, TypeVar

from ottla.base.scheduling.steps import Steps, noting
from ottla.coordinators.groups.shard import LoadedShard
from ottla.coordinators.replicated_answers import unreplicated
from ottla.handlers.serving.context import Context
from ottla.protocol.errors import BrokerError

A = TypeVar("A")
R = TypeVar("R")

REFUSAL_BYTES = 32  # of a refusal, besides the group's name and the message


class GroupReader(Generic[A]):
    def __init__(self, context: Context) -> None:
        self._groups = context.parts.groups
        self._scheduler = context.parts.scheduler
        self._answers: list[A] = []
        self._sizes: list[int] = []
        self._known: dict[Hashable, int] = {}  # indexes in the list of answers
        self._order: list[int] = []  # of the indexes, as in the request
        self._read: dict[LoadedShard, list[int]] = {}  # indexes, by shard

    def read(
        self,
        key: Hashable,
        group_id: str,
        read: Callable[[LoadedShard], Steps[A]],
        refuse: Callable[[BrokerError], Steps[A]],
        *,
        repeats: bool = True,
    ) -> Steps[None]:
        """Read one group. Equal keys have equal results."""
        at = self._known.get(key)
        if at is None:
            at = self._known[key] = len(self._answers)
            self._sizes.append(0)
            self._answers.append((yield from self._read_one(at, group_id, read, refuse)))
            self._order.append(at)
        elif repeats:
            self._order.append(at)
            yield self._sizes[at]
        else:
            yield 0

    def _read_one(
        self,
        at: int,
        group_id: str,
        read: Callable[[LoadedShard], Steps[A]],
        refuse: Callable[[BrokerError], Steps[A]],
    ) -> Steps[A]:
        try:
            shard = self._groups.shard_of(group_id)
            answer = yield from self._measured(at, read(shard))
            shard.check_current()
        except BrokerError as error:
            return (yield from self._measured(at, refuse(error)))
        self._read.setdefault(shard, []).append(at)
        return answer

    def _measured(self, at: int, reading: Steps[A]) -> Steps[A]:
        """Record the size of a result."""
        self._sizes[at] = 0

        def note(grown: int) -> None:
            self._sizes[at] += grown

        return noting(reading, note)

    def show(self, refuse: Callable[[A, BrokerError], A]) -> list[A] | Awaitable[list[A]]:
        """The results, not awaitable if all of their state is replicated."""
        waiting = unreplicated(self._read)
        return self._show_later(waiting, refuse) if waiting else self._in_order()

    async def _show_later(
        self, waiting: dict[LoadedShard, int], refuse: Callable[[A, BrokerError], A]
    ) -> list[A]:
        failed = await self._groups.replicated(waiting)

        def refusing() -> Steps[None]:
            for shard, error in failed.items():
                for at in self._read[shard]:
                    self._answers[at] = refuse(self._answers[at], error)
                    yield 0

        await self._scheduler.run(refusing())
        return self._in_order()

    def _in_order(self) -> list[A]:
        return list(map(self._answers.__getitem__, self._order))


def read_groups(
    group_ids: Iterable[str],
    context: Context,
    read: Callable[[str, LoadedShard], Steps[A]],
    refuse: Callable[[str, BrokerError], A],
    *,
    repeats: bool = True,
) -> Steps[list[A] | Awaitable[list[A]]]:
    """A result for each group."""

    def refusing(group_id: str, error: BrokerError) -> Steps[A]:
        yield REFUSAL_BYTES + len(group_id) + len(error.message)
        return refuse(group_id, error)

    reader: GroupReader[A] = GroupReader(context)
    for group_id in group_ids:
        yield from reader.read(
            group_id,
            group_id,
            partial(read, group_id),
            partial(refusing, group_id),
            repeats=repeats,
        )
        yield 0
    return reader.show(lambda answer, error: refuse(answer.group_id, error))  # type: ignore[attr-defined]


def respond(
    answers: list[A] | Awaitable[list[A]], respond_with: Callable[[list[A]], R]
) -> R | Awaitable[R]:
    return respond_with(answers) if isinstance(answers, list) else _later(answers, respond_with)


async def _later(answers: Awaitable[list[A]], respond_with: Callable[[list[A]], R]) -> R:
    return respond_with(await answers)
