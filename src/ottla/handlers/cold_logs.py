"""Logs that nobody has used since the broker was started: what they know is in their files."""

from __future__ import annotations

from ottla.base.cold_reads import look
from ottla.storage.log.log import Log


async def read_producers(log: Log) -> None:
    """Before anything depends on them. The event loop does not wait for the disk meanwhile."""
    await look(lambda: None if log.is_closed else log.producer_states)
