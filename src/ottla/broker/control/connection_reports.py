"""Log messages about the connection to ZooKeeper.

Promises  a connection that is lost is reported at once, and again from time to time until it is
          back.
"""

from __future__ import annotations

import asyncio
import logging

from ottla.metadata.zookeeper.service import SessionState

log = logging.getLogger(__name__)
REMINDER_S = 30.0


class ConnectionReports:
    def __init__(self, address: str) -> None:
        self._address = address
        self._reminder: asyncio.TimerHandle | None = None

    def note(self, state: SessionState) -> None:
        self.close()
        match state:
            case SessionState.CONNECTED:
                log.info("connected to ZooKeeper at %s", self._address)
            case SessionState.DISCONNECTED:
                log.warning(
                    "no connection to ZooKeeper at %s: elections and administration wait for it",
                    self._address,
                )
                self._remind_later()
            case SessionState.EXPIRED:
                log.warning("the ZooKeeper session has expired, beginning a new one")
                self._remind_later()

    def close(self) -> None:
        if self._reminder is not None:
            self._reminder.cancel()
            self._reminder = None

    def _remind_later(self) -> None:
        self._reminder = asyncio.get_running_loop().call_later(REMINDER_S, self._remind)

    def _remind(self) -> None:
        log.warning(
            "still no connection to ZooKeeper at %s. If it is running, it was perhaps restored "
            "from an older copy: it refuses brokers that have seen more, until they are restarted",
            self._address,
        )
