"""Logs that nobody has used since the broker was started: what they know is in their files."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.steps import Steps, drive, looking_up
from ottla.base.turns import Turns
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log


def loading_producers(log: Log) -> Steps[None]:
    """Before anything depends on them. The event loop does not wait for the disk meanwhile."""
    yield from looking_up(lambda reader: None if log.is_closed else log.load_producers(reader))


async def read_all_producers(logs: Iterable[Log], turns: Turns) -> None:
    """Of many logs. What is wrong with one is told when it is asked again."""
    for log in logs:
        try:
            await drive(loading_producers(log))
        except (BrokerError, CorruptLogError):
            pass
        await turns.next()
