"""The time that requests take on the processor, as far as quotas on it are set (KIP-124).

It is charged when the answer is made, so that a client that is to wait is told so in it; what is
spent on it after that is only noted. What a request waits for costs nobody anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

from ottla.handlers.serving.context import Context

PERCENT_PER_S = 100
T = TypeVar("T")


def charge_time(context: Context) -> None:
    """All that was spent; once."""
    if context.began_s is None:
        return
    spend_time(context)
    context.charged_s = context.began_s
    exempt_time(context)
    quota = context.parts.quotas.request
    if quota is not None:  # or not any more
        context.throttle(quota.charge(context, context.spent_s * PERCENT_PER_S))


def note_rest(context: Context) -> None:
    """What was spent after it was charged."""
    quota = context.parts.quotas.request
    if context.charged_s is not None and quota is not None:
        rest_s = context.parts.clock.monotonic_s() - context.charged_s
        quota.note(context, rest_s * PERCENT_PER_S)


def begin_time(context: Context) -> None:
    context.began_s = context.parts.clock.monotonic_s()


def spend_time(context: Context) -> None:
    """Note what was spent since the beginning, or since this was called last."""
    if context.began_s is not None:
        now_s = context.parts.clock.monotonic_s()
        context.spent_s += now_s - context.began_s
        context.began_s = now_s


def exempt_time(context: Context) -> None:
    """What nobody waits for an answer to, and what brokers do for each other."""
    context.began_s = None


class Timed(Generic[T]):
    """Something that is awaited, and spends a request's time whenever it goes on."""

    def __init__(self, awaited: Awaitable[T], context: Context) -> None:
        self._awaited = awaited
        self._context = context

    def __await__(self) -> Generator[Any, Any, T]:
        context, steps = self._context, self._awaited.__await__()
        error: BaseException | None = None
        while True:
            if context.began_s is not None:
                begin_time(context)
            try:
                waits_for = next(steps) if error is None else steps.throw(error)
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                error = None  # whose traceback knows this frame: else they would be a circle
                spend_time(context)
            try:
                yield waits_for
            except BaseException as thrown:
                error = thrown  # for what is awaited, such as its being cancelled
