"""Producer state of logs that were not used since the start: it is read from files."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.scheduling.steps import PAUSE, Steps
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log


def loading_producers(logs: Iterable[Log]) -> Steps[None]:
    """Load the producers of many logs. The error of one is raised again when it is used."""
    for log in logs:
        try:
            yield from log.producers.loading()
        except (BrokerError, CorruptLogError):
            pass
        yield PAUSE
