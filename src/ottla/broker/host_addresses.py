"""Resolves host names to addresses.

Owns      a cache; as in Kafka, a name is resolved once.
Promises  no caller waits: an unresolved name is returned as it is and resolved in the background,
          and `found` is called when its address is known.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

from ottla.base.log_messages.log_text import shown
from ottla.base.scheduling.tasks import OwnedTasks
from ottla.network.addresses import is_address, normal_address

log = logging.getLogger(__name__)


class HostAddresses:
    def __init__(self, tasks: OwnedTasks, found: Callable[[], None]) -> None:
        self._tasks = tasks
        self._found = found
        self._addresses: dict[str, str] = {}

    def __call__(self, host: str) -> str:
        if is_address(host):
            return normal_address(host)
        if host not in self._addresses:
            self._addresses[host] = host  # resolved once
            self._tasks.start(self._look_up(host), name=f"address of {host}")
        return self._addresses[host]

    async def _look_up(self, host: str) -> None:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, None)
        except (OSError, UnicodeError) as error:
            log.warning(
                "limits of %s do not hold, its address is not known: %s", shown(host), error
            )
            return
        # The first IPv4 address, if there is one, as in Java.
        addresses = sorted(found, key=lambda each: each[0] != socket.AF_INET)
        self._addresses[host] = normal_address(str(addresses[0][4][0]))
        self._found()
