"""The channel to one broker: opened by the first request, and again after it was lost.

Promises  requests are sent in the highest version that both brokers support. There is one attempt
          to connect at a time; requests meanwhile wait for it, and get its error. After a failed
          attempt the next one waits a little longer each time, while requests fail at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from socket import SO_RCVBUF, SOL_SOCKET
from typing import Any

from ottla.network.channel.errors import (
    BrokerUnreachable,
    ChannelError,
    ConnectionRefused,
    UnsupportedRequest,
)
from ottla.network.channel.outbound import OutboundConnection
from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest

API_VERSIONS_VERSION = 3  # understood by every broker that can be in a cluster
SOFTWARE_NAME = "ottla-broker"
RETRY_S = 0.02
RETRY_MAX_S = 0.5


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    client_id: str
    software_version: str
    connect_timeout_s: float
    frame_bytes_max: int
    bind_host: str | None = None  # the local address, for hosts that have several
    receive_buffer_bytes: int | None = None  # None: as the system chooses


class Channel:
    def __init__(self, host: str, port: int, settings: ChannelSettings) -> None:
        self._host = host
        self._port = port
        self._settings = settings
        self._connection: OutboundConnection | None = None
        self._versions: dict[int, range] = {}
        self._opening: asyncio.Task[OutboundConnection] | None = None
        self._retry_s = RETRY_S
        self._not_before_s = 0.0
        self._last_error: ChannelError | None = None
        self._is_closed = False
        self._loop = asyncio.get_running_loop()

    @property
    def address(self) -> tuple[str, int]:
        return self._host, self._port

    @property
    def name(self) -> str:
        return f"broker at {self._host}:{self._port}"

    async def request(
        self, request: Message, timeout_s: float, *, at_most: int | None = None
    ) -> Any:
        """The response; ChannelError if there is none."""
        connection = await self._connected()
        key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # all requests have one
        return await connection.send(key, self._version_of(key, at_most), request, timeout_s)

    def close(self) -> None:
        self._is_closed = True
        if self._opening is not None:
            self._opening.cancel()
        if self._connection is not None:
            self._connection.close()

    def _version_of(self, key: ApiKey, at_most: int | None) -> int:
        ours, theirs = APIS[key].versions, self._versions.get(key, range(0))
        top = min(ours.stop, theirs.stop) - 1
        top = top if at_most is None else min(top, at_most)
        if top < max(ours.start, theirs.start):
            raise UnsupportedRequest(f"{self.name} supports no version of {key.name} that we do")
        return top

    async def _connected(self) -> OutboundConnection:
        if self._connection is not None and self._connection.is_open:
            return self._connection
        if self._is_closed:
            raise BrokerUnreachable(f"{self.name}: the channel is closed")
        if self._opening is None:
            if self._last_error is not None and self._loop.time() < self._not_before_s:
                raise self._last_error
            self._opening = asyncio.create_task(self._open(), name=f"connect to {self.name}")
            self._opening.add_done_callback(self._opened)
        return await self._opened_by(self._opening)

    async def _opened_by(self, opening: asyncio.Task[OutboundConnection]) -> OutboundConnection:
        """A caller that is cancelled does not cancel the attempt for others. `close` cancels it,
        and not its callers."""
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if opening.cancelled() and not (caller is not None and caller.cancelling()):
                raise BrokerUnreachable(f"{self.name}: the channel was closed") from None
            raise

    def _opened(self, opening: asyncio.Task[OutboundConnection]) -> None:
        self._opening = None
        if opening.cancelled():
            return
        error = opening.exception()
        if error is None:
            self._connection, self._last_error, self._retry_s = opening.result(), None, RETRY_S
        elif isinstance(error, ChannelError):
            self._last_error = error
            self._not_before_s = self._loop.time() + self._retry_s
            self._retry_s = min(2 * self._retry_s, RETRY_MAX_S)

    async def _open(self) -> OutboundConnection:
        settings = self._settings
        local = None if settings.bind_host is None else (settings.bind_host, 0)
        try:
            async with asyncio.timeout(settings.connect_timeout_s):
                transport, connection = await self._loop.create_connection(
                    self._new_connection, self._host, self._port, local_addr=local
                )
            if settings.receive_buffer_bytes is not None:
                connected = transport.get_extra_info("socket")
                connected.setsockopt(SOL_SOCKET, SO_RCVBUF, settings.receive_buffer_bytes)
        except ConnectionRefusedError as error:
            raise ConnectionRefused(f"{self.name}: nothing listens there") from error
        except TimeoutError as error:
            within = f"{settings.connect_timeout_s:g} s"
            raise BrokerUnreachable(f"{self.name}: no connection within {within}") from error
        except OSError as error:
            raise BrokerUnreachable(f"{self.name}: {error}") from error
        try:
            await self._negotiate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _new_connection(self) -> OutboundConnection:
        return OutboundConnection(
            self.name, self._settings.client_id, self._settings.frame_bytes_max
        )

    async def _negotiate(self, connection: OutboundConnection) -> None:
        """Nothing of a caller was sent yet: whatever fails here is BrokerUnreachable."""
        request = ApiVersionsRequest(SOFTWARE_NAME, self._settings.software_version)
        try:
            response = await connection.send(
                ApiKey.API_VERSIONS, API_VERSIONS_VERSION, request, self._settings.connect_timeout_s
            )
        except ChannelError as error:
            raise BrokerUnreachable(str(error)) from error
        if response.error_code != ErrorCode.NONE:
            code = ErrorCode(response.error_code).name
            raise BrokerUnreachable(f"{self.name} answered ApiVersions with {code}")
        self._versions = {
            each.api_key: range(each.min_version, each.max_version + 1)
            for each in response.api_keys
        }


class Channels:
    """One channel to each other broker, at the address that its registration has now."""

    def __init__(
        self, address_of: Callable[[int], tuple[str, int] | None], settings: ChannelSettings
    ) -> None:
        self._address_of = address_of
        self._settings = settings
        self._channels: dict[int, Channel] = {}

    def to(self, broker_id: int) -> Channel:
        """BrokerUnreachable if the broker is not registered, or has no listener for brokers."""
        address = self._address_of(broker_id)
        if address is None:
            raise BrokerUnreachable(f"broker {broker_id} is not registered")
        channel = self._channels.get(broker_id)
        if channel is None or channel.address != address:
            if channel is not None:
                channel.close()
            channel = self._channels[broker_id] = Channel(*address, self._settings)
        return channel

    async def request(self, broker_id: int, request: Message, timeout_s: float) -> Any:
        """The response; ChannelError if there is none."""
        return await self.to(broker_id).request(request, timeout_s)

    def close(self) -> None:
        for channel in self._channels.values():
            channel.close()
