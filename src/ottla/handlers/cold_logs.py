"""Logs that nobody has used since the broker was started: what they know is in their files."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.cold_reads import look
from ottla.base.turns import Turns
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log


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
