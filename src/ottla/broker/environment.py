"""The environment of a broker, except its files: an argument, which a simulation replaces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from ottla.base.scheduling.loop_watchdog import watch_event_loop
from ottla.metadata.zookeeper.service import ZooKeeperService, ZooKeeperSession
from ottla.network.listening import Bind, bind_sockets

# A new session, or the one that an earlier process has left.
OpenZooKeeper = Callable[[ZooKeeperSession | None], Awaitable[ZooKeeperService]]


@dataclass(frozen=True, slots=True)
class Environment:
    bind: Bind = bind_sockets
    open_zookeeper: OpenZooKeeper | None = None  # None is the one in `zookeeper.connect`
    # until cancelled: ends the process if its event loop is blocked for so many seconds
    watch_event_loop: Callable[[float], Coroutine[Any, Any, None]] = watch_event_loop
