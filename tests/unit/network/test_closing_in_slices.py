"""Thousands of connections that are closed together: a few in each iteration of the event loop."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ottla.base.scheduling.callback_queue import CallbackQueue
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.base.scheduling.timers import Timers
from ottla.network.eviction import EVICTED_AT_ONCE
from ottla.network.memory_pressure import MemoryPressure
from ottla.network.network import CLOSED_PER_ITERATION, check_deadlines
from ottla.network.request_memory import RequestAccount, RequestMemory
from ottla.network.request_pipeline import RequestPipeline
from ottla.network.request_server import Answer, AwaitingAnswer, PendingAnswer
from ottla.network.response_memory import ResponseAccount, ResponseMemory
from ottla.network.timeouts import Reason
from ottla.network.transfer_rate import TransferRate

MANY = 300
AT_ONCE = 10  # cancelled requests
REQUESTS = 50  # of each connection


class Iterations:
    """Counts what happens in each iteration of the running event loop."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self._number = 0
        self._next()

    def _next(self) -> None:
        self._number += 1
        self._handle = asyncio.get_running_loop().call_soon(self._next)

    def note(self) -> None:
        self.counts[self._number] += 1

    async def until(self, is_done: Callable[[], bool]) -> None:
        for _ in range(10_000):
            if is_done():
                self._handle.cancel()
                return
            await asyncio.sleep(0)
        raise AssertionError(f"not done after {self.counts}")


class Waiting(PendingAnswer):
    """A request that waits with a callback, and not with a task."""

    def __init__(self, cancelled: Callable[[], None]) -> None:
        self._cancelled = cancelled
        self.done: Callable[[Answer], None] | None = None

    def begin(self, done: Callable[[Answer], None], failed: Callable[..., None]) -> None:
        self.done = done

    def cancel(self) -> None:
        self._cancelled()


def make_pipeline(cancellations: CallbackQueue, tasks: OwnedTasks) -> RequestPipeline:
    def fail(*_arguments: object) -> None:
        raise AssertionError("nothing is reported for a closed connection")

    loop = asyncio.get_running_loop()
    settings: Any = SimpleNamespace()
    return RequestPipeline(
        settings, loop, tasks, cancellations, advance=fail, schedule_advance=fail, failed=fail
    )


@pytest.mark.parametrize("has_tasks", [True, False])
def test_requests_of_connections_that_are_closed_together_are_cancelled_a_few_at_a_time(
    has_tasks: bool,
) -> None:
    async def run() -> None:
        tasks, cancellations, seen = OwnedTasks(), CallbackQueue(AT_ONCE), Iterations()

        async def wait() -> Answer:
            try:
                return await asyncio.Future[Answer]()
            finally:
                seen.note()

        pipelines = [make_pipeline(cancellations, tasks) for _ in range(6)]
        for pipeline in pipelines:
            for _ in range(REQUESTS):
                answer = wait() if has_tasks else Waiting(seen.note)
                pipeline.begin(AwaitingAnswer(answer), 100)
        for pipeline in pipelines:
            pipeline.abandon()  # before the first step of the tasks
        await seen.until(lambda: seen.counts.total() == len(pipelines) * REQUESTS and not tasks)
        assert max(seen.counts.values()) <= AT_ONCE

    asyncio.run(run())


def test_an_answer_that_comes_before_its_request_is_cancelled_is_dropped() -> None:
    async def run() -> None:
        cancelled: list[bool] = []
        cancellations = CallbackQueue(AT_ONCE)
        pipeline = make_pipeline(cancellations, OwnedTasks())
        waiting = Waiting(lambda: cancelled.append(True))
        pipeline.begin(AwaitingAnswer(waiting), 100)
        pipeline.abandon()
        assert waiting.done is not None
        waiting.done(Answer([b"late"]))
        await asyncio.sleep(0)
        assert cancelled == [True]
        assert not pipeline.in_flight

    asyncio.run(run())


class IdleConnection:
    def __init__(self, checked: Callable[[], None]) -> None:
        self._checked = checked

    def check_deadlines(self, _now_s: float) -> None:
        self._checked()


def test_deadlines_that_pass_together_are_checked_a_few_at_a_time() -> None:
    async def run() -> None:
        seen, now_ms = Iterations(), 0
        timers: Timers[IdleConnection] = Timers(lambda: now_ms)
        for _ in range(MANY):
            timers.start(IdleConnection(seen.note), 100)
        now_ms = 100
        context = SimpleNamespace(timers=timers, loop=asyncio.get_running_loop())
        await check_deadlines(cast(Any, context))
        assert seen.counts.total() == MANY
        assert max(seen.counts.values()) <= CLOSED_PER_ITERATION
        await seen.until(lambda: True)

    asyncio.run(run())


class Evicted:
    """A connection that holds memory."""

    sent_bytes = 0

    def __init__(self, release: Callable[[], None], evicted: Callable[[], None]) -> None:
        self.release = release
        self._evicted = evicted

    def evict(self, _reason: Reason) -> None:
        self._evicted()
        self.release()

    def resume_after_memory(self) -> None: ...


def fill_requests(memory: RequestMemory, evicted: Callable[[], None]) -> None:
    for _ in range(2 * MANY):
        holder = Evicted(lambda: None, evicted)
        account = RequestAccount(holder, "127.0.0.1")
        holder.release = lambda account=account: memory.change(account, 0, 0, 0)  # type: ignore[misc]
        account.rate = TransferRate(0.0)
        memory.change(account, 100, 0, 200)
    assert memory.is_overfull


def fill_responses(memory: ResponseMemory, evicted: Callable[[], None]) -> None:
    for _ in range(2 * MANY):
        holder = Evicted(lambda: None, evicted)
        account = ResponseAccount(holder, "127.0.0.1")
        holder.release = lambda account=account: memory.close(account, 0.0)  # type: ignore[misc]
        memory.hold(account, 100, 0.0)
    assert memory.is_overfull


@pytest.mark.parametrize("has_failed_before", [False, True])
@pytest.mark.parametrize("which", ["requests", "responses"])
def test_connections_are_evicted_a_few_at_a_time(which: str, has_failed_before: bool) -> None:
    """Also soon after an eviction for which there was no connection to close."""

    async def run() -> None:
        seen = Iterations()
        requests, responses = RequestMemory(MANY * 100), ResponseMemory(MANY * 100)
        memory = requests if which == "requests" else responses
        pressure = MemoryPressure(requests, responses, tick_s=1.0)
        pressure.start(asyncio.get_running_loop())
        if has_failed_before:
            requests._on_overfull()
            await asyncio.sleep(0)
        if which == "requests":
            fill_requests(requests, seen.note)
        else:
            fill_responses(responses, seen.note)
        pressure.tick(0.0)
        await seen.until(lambda: not memory.is_evicting)
        assert memory.held_bytes <= memory.bytes_max
        assert max(seen.counts.values()) <= EVICTED_AT_ONCE
        assert seen.counts.total() >= MANY

    asyncio.run(run())
