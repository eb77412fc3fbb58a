"""Logs that nobody has used since the broker was started: their producers are in files."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.steps import PAUSE, Steps
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.log import Log


def loading_producers(logs: Iterable[Log]) -> Steps[None]:
    """Of many logs. What is wrong with one is told when it is asked again."""
    for log in logs:
        try:
            yield from log.loading_producers()
        except (BrokerError, CorruptLogError):
            pass
        yield PAUSE
