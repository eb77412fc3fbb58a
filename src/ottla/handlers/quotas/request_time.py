"""The processing time of requests, if quotas on it are set (KIP-124).

It is charged before the response is encoded, which contains the throttle time; time spent after
that is only recorded. Time that a request waits is not charged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Generator
from typing import Any, Generic, TypeVar

from ottla.handlers.serving.context import Context

PERCENT_PER_S = 100
T = TypeVar("T")


def charge_time(context: Context) -> None:
    """Charge the time spent so far; once for each request."""
    if context.began_s is None:
        return
    spend_time(context)
    context.charged_s = context.began_s
    exempt_time(context)
    quota = context.parts.quotas.request
    if quota is not None:  # it may have been removed
        context.throttle(quota.charge(context, context.spent_s * PERCENT_PER_S))


def note_rest(context: Context) -> None:
    """Record the time spent after the charge."""
    quota = context.parts.quotas.request
    if context.charged_s is not None and quota is not None:
        rest_s = context.parts.clock.monotonic_s() - context.charged_s
        quota.note(context, rest_s * PERCENT_PER_S)


def begin_time(context: Context) -> None:
    context.began_s = context.parts.clock.monotonic_s()


def spend_time(context: Context) -> None:
    """Add the time since the request began, or since the last call."""
    if context.began_s is not None:
        now_s = context.parts.clock.monotonic_s()
        context.spent_s += now_s - context.began_s
        context.began_s = now_s


def exempt_time(context: Context) -> None:
    """Do not charge the time: requests without a response, and those of other brokers."""
    context.began_s = None


class Timed(Generic[T]):
    """An awaitable that adds the time of each of its steps to a request."""

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
                error = None  # its traceback has this frame: avoid a reference cycle
                spend_time(context)
            try:
                yield waits_for
            except BaseException as thrown:
                error = thrown  # passed on to the awaitable, such as a cancellation
