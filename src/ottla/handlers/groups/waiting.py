"""Responses of several parts, some of which may be awaitable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from ottla.protocol.errors import BrokerError

T = TypeVar("T")
R = TypeVar("R")


def combine(parts: Sequence[T | Awaitable[T]], finish: Callable[[list[T]], R]) -> R | Awaitable[R]:
    """The whole; awaitable if any part is."""
    if any(isinstance(part, Awaitable) for part in parts):
        return _combine_later(parts, finish)
    return finish(list(parts))  # type: ignore[arg-type]


async def _combine_later(parts: Sequence[T | Awaitable[T]], finish: Callable[[list[T]], R]) -> R:
    return finish([await part if isinstance(part, Awaitable) else part for part in parts])


def attempt(
    act: Callable[[], T | Awaitable[T]], refused: Callable[[BrokerError], T]
) -> T | Awaitable[T]:
    """One part. Its error becomes its result, so that other parts are not affected."""
    try:
        part = act()
    except BrokerError as error:
        return refused(error)
    return _attempt_later(part, refused) if isinstance(part, Awaitable) else part


async def _attempt_later(part: Awaitable[T], refused: Callable[[BrokerError], T]) -> T:
    try:
        return await part
    except BrokerError as error:
        return refused(error)
