"""The ZooKeeper session of this process, and its record in the data directory.

Owns      opening the session, and storing it for the next process.
Promises  the session that the last process of this directory left behind is closed first, so that
          its ephemeral znodes do not delay the start until they time out.
Leaves    the file to `metadata/zookeeper/session_file.py`, what the session is used for to
          `cluster.py`.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from ottla.base.files.filesystem import FileSystem
from ottla.base.scheduling.step_scheduler import DedicatedDriver
from ottla.broker.control.membership import REMINDER_S
from ottla.broker.outside import Outside
from ottla.config.broker_options import BrokerConfig
from ottla.config.zookeeper_connect import ConnectString
from ottla.metadata.zookeeper.kazoo_service import open_service
from ottla.metadata.zookeeper.service import ZooKeeperService, ZooKeeperSession
from ottla.metadata.zookeeper.session_file import read_incarnation, read_session, write_session

log = logging.getLogger(__name__)


class StoredSession:
    def __init__(
        self,
        files: FileSystem,
        directory: str,
        config: BrokerConfig,
        disk: DedicatedDriver,
        outside: Outside,
    ) -> None:
        self._files = files
        self._directory = directory
        self._config = config
        self._disk = disk
        self._outside = outside
        self.connect = ConnectString.parse(config.zookeeper_connect or "")
        self.incarnation_id: bytes | None = None  # once this process announces itself

    async def open(self) -> ZooKeeperService:
        open_ = self._outside.open_zookeeper or self._connect_to_zookeeper
        # This process has the lock of the directory: the one that had the session has ended.
        old = read_session(self._files, self._directory, str(self.connect))
        reminder = asyncio.get_running_loop().call_later(
            REMINDER_S,
            log.warning,
            "waiting for ZooKeeper at %s (zookeeper.connect)",
            self.connect,
        )
        try:
            if old is not None:
                await (await open_(old)).close()
            return await open_(None)
        finally:
            reminder.cancel()

    async def _connect_to_zookeeper(self, session: ZooKeeperSession | None) -> ZooKeeperService:
        timeout_ms = self._config.zookeeper_session_timeout_ms
        return await open_service(
            self.connect,
            self._disk.in_thread,
            session_timeout_ms=timeout_ms,
            connection_timeout_ms=self._config.zookeeper_connection_timeout_ms or timeout_ms,
            session=session,
        )

    def read_last_incarnation(self) -> bytes | None:
        """That of the last process; None if it was not registered, or is not known."""
        return read_incarnation(self._files, self._directory)

    def write(self, service: ZooKeeperService) -> None:
        connect, incarnation_id = str(self.connect), self.incarnation_id
        write_session(self._files, self._directory, connect, service.session, incarnation_id)

    async def keep(self, service: ZooKeeperService) -> None:
        """As `write`, in a thread."""
        await self._disk.in_thread(partial(self.write, service))
