"""Logs that nobody has used since the broker was started: what they know is in their files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ottla.base.cold_reads import look
from ottla.base.turns import Slices, Turns
from ottla.handlers.context import Context
from ottla.handlers.large_responses import check_size
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log

T = TypeVar("T")


async def read_producers(log: Log) -> None:
    """Before anything depends on them. The event loop does not wait for the disk meanwhile."""
    await look(lambda: None if log.is_closed else log.producer_states)


async def read_all_producers(logs: Iterable[Log], turns: Turns) -> None:
    """Of many logs. What is wrong with one is told when it is asked again."""
    for log in logs:
        try:
            await read_producers(log)
        except (BrokerError, CorruptLogError):
            pass
        await turns.next()


async def run_bounded(slices: Slices[T], context: Context) -> T:
    """A response that is built after something was read; refused where it grows too large."""
    turns, bytes_max = context.parts.turns, context.parts.settings.config.ottla_response_bytes_max
    work, is_done = turns.begin(slices)
    try:
        while not is_done:
            check_size(work.grown, bytes_max)
            is_done = await turns.go_on(work)
        check_size(work.grown, bytes_max)
    finally:
        work.close()
    return work.result
