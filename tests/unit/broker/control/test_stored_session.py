"""The record of the ZooKeeper session in a log directory that is lost while the broker runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

from ottla.base.clock import SystemClock
from ottla.base.files.disk import DiskFileSystem
from ottla.base.scheduling.step_scheduler import DedicatedDriver
from ottla.broker.control.stored_session import StoredSession
from ottla.broker.environment import Environment
from ottla.config.broker_options import BrokerConfig
from ottla.metadata.zookeeper.log_comparison import SeenEnd
from ottla.metadata.zookeeper.service import ZooKeeperService, ZooKeeperSession
from ottla.metadata.zookeeper.session_file import SESSION_NAME
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.storage.directories.log_manager import LogManager
from ottla.testing.log_listener import IgnoringListener

CONFIG = BrokerConfig(zookeeper_connect="host:2181")
SERVICE = cast(ZooKeeperService, SimpleNamespace(session=ZooKeeperSession(1, b"password")))


class AtOnce:
    async def in_thread(self, job: Callable[[], Any]) -> Any:
        return job()


def test_a_directory_that_replaced_the_one_of_the_broker_is_not_written_to(tmp_path: Path) -> None:
    """As the mount point of a disk that was unmounted: it must still be empty at the next start."""
    path, other, files = tmp_path / "first", tmp_path / "second", DiskFileSystem()
    logs = LogManager(files, SystemClock(), Random(1), [str(path), str(other)], IgnoringListener())
    logs.take()
    first = logs.directories[0]
    driver = cast(DedicatedDriver, AtOnce())
    session = StoredSession(files, first, CONFIG, driver, Environment())
    seen = SimpleNamespace(seen_end=SeenEnd(1, 0, "nonce"))
    session.follow(cast(ZooKeeperMetadataLog, seen))

    async def story() -> None:
        await session.keep(SERVICE)
        assert (path / SESSION_NAME).exists()
        path.rename(tmp_path / "unmounted")
        path.mkdir()
        for offset in range(2, 5):  # the metadata log grows
            seen.seen_end = SeenEnd(offset, offset - 1, "nonce")
            await session.keep_if_changed(SERVICE)
        assert list(path.iterdir()) == []
        assert logs.online == [logs.directories[1]]

    try:
        asyncio.run(story())
    finally:
        logs.release()
