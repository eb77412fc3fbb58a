"""The ZooKeeper session of this process, and its record in the data directory.

Owns      opening the session, and storing it for the next process, with the last batch of the
          metadata log that was seen: at most STORE_EVERY_S after it was.
Promises  the session that the last process of this directory left behind is closed first, so that
          its ephemeral znodes do not delay the start until they time out. A directory that is
          offline, or replaced another one, is not written to: then they time out.
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
from ottla.broker.environment import Environment
from ottla.broker.housekeeping import in_directory
from ottla.config.broker_options import BrokerConfig
from ottla.config.zookeeper_connect import ConnectString
from ottla.metadata.zookeeper.kazoo_service import open_service
from ottla.metadata.zookeeper.log_comparison import SeenEnd
from ottla.metadata.zookeeper.service import ZooKeeperService, ZooKeeperSession
from ottla.metadata.zookeeper.session_file import (
    read_incarnation,
    read_seen_end,
    read_session,
    write_session,
)
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.storage.directories.log_directory import LogDirectory

log = logging.getLogger(__name__)
STORE_EVERY_S = 1.0  # while the metadata log grows


class StoredSession:
    def __init__(
        self,
        files: FileSystem,
        directory: LogDirectory,
        config: BrokerConfig,
        disk: DedicatedDriver,
        environment: Environment,
    ) -> None:
        self._files = files
        self._directory = directory
        self._config = config
        self._disk = disk
        self._environment = environment
        self.connect = ConnectString.parse(config.zookeeper_connect or "")
        self._incarnation_id: bytes | None = None
        self._metadata_log: ZooKeeperMetadataLog | None = None
        self._stored = SeenEnd()
        self._writing = asyncio.Lock()

    async def open(self) -> ZooKeeperService:
        open_ = self._environment.open_zookeeper or self._connect_to_zookeeper
        # This process has the lock of the directory: the one that had the session has ended.
        old = read_session(self._files, self._directory.path, str(self.connect))
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

    def follow(self, metadata_log: ZooKeeperMetadataLog) -> None:
        """From now on, store the last batch that this log has seen."""
        self._metadata_log = metadata_log

    def announce(self, incarnation_id: bytes) -> None:
        """This process registers with this incarnation, which is stored from now on."""
        self._incarnation_id = incarnation_id

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
        """The incarnation of the last process; None if it was not registered, or is not known."""
        return read_incarnation(self._files, self._directory.path)

    def read_last_end(self) -> SeenEnd:
        """What the last process has seen of the metadata log."""
        return read_seen_end(self._files, self._directory.path)

    async def keep(self, service: ZooKeeperService) -> None:
        """Store the session, in a thread. A failure is logged."""
        directory = self._directory
        async with self._writing:  # one file
            if directory.health.is_online:
                work = partial(self._write, service.session, self._seen_end())
                await in_directory(self._disk, directory, "storing the ZooKeeper session", work)

    async def run(self, service: ZooKeeperService) -> None:
        """Store the last batch that was seen when the metadata log grows, until cancelled."""
        while True:
            await asyncio.sleep(STORE_EVERY_S)
            await self.keep_if_changed(service)

    async def keep_if_changed(self, service: ZooKeeperService) -> None:
        if self._seen_end() != self._stored:
            await self.keep(service)

    def _seen_end(self) -> SeenEnd:
        return SeenEnd() if self._metadata_log is None else self._metadata_log.seen_end

    def _write(self, session: ZooKeeperSession, seen: SeenEnd) -> None:
        write_session(
            self._files,
            self._directory.path,
            str(self.connect),
            session,
            self._incarnation_id,
            seen,
        )
        self._stored = seen
