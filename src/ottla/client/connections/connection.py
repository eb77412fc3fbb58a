"""One connection to one broker: requests, and their responses in the same order.

Owns      a transport, the API versions of the broker, and the requests without a response.
Promises  a response is decoded in the version of its request; records in it stay slices of the
          receive buffer; a length beyond `frame_bytes_max` is refused before it is read. After any
          error the connection is closed, because later responses could not be matched.
Leaves    choosing a broker, and retries, to `cluster/cluster.py`.
Threads   one sends and receives; `interrupt` may be called from any.
"""

from __future__ import annotations

import time
from collections import deque
from typing import Any, NamedTuple

from ottla.client.connections.receive_buffers import BufferPool
from ottla.client.connections.transport import TRANSPORTS, OpenTransport, Transport
from ottla.client.errors import (
    ConnectionLost,
    MalformedAnswer,
    RequestTimedOut,
    Unreachable,
    UnsupportedByBroker,
    code_of,
    kafka_error,
)
from ottla.client.settings import ClientSettings
from ottla.config.addresses import Address
from ottla.config.options import MIB
from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import response_class
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.api_versions_response import ApiVersionsResponse

LENGTH_BYTES = 4
WHOLE_BYTES_MAX = 64 * MIB  # memory for a response up to this size is allocated at once
SOFTWARE_NAME = "ottla"


class Awaited(NamedTuple):
    correlation_id: int
    key: ApiKey
    version: int
    timeout_ms: int  # counts from the call of `receive`


def highest_common(ours: range, theirs: range | None, at_most: int | None) -> int | None:
    """The highest version that both sides support, up to `at_most`."""
    if theirs is None:
        return None
    top = min(ours.stop, theirs.stop) - 1
    top = top if at_most is None else min(top, at_most)
    return top if top >= max(ours.start, theirs.start) else None


class ClientConnection:
    def __init__(self, address: Address, settings: ClientSettings, transport: Transport) -> None:
        """Use `open_connection`, which also reads the broker's API versions."""
        self.address = address
        self.versions: dict[int, range] = {}
        self.is_open = True
        self._settings = settings
        self._transport = transport
        self._pool = BufferPool()
        self._awaited: deque[Awaited] = deque()
        self._sent = 0
        self._length = bytearray(LENGTH_BYTES)

    @property
    def request_timeout_ms(self) -> int:
        return self._settings.request_timeout_ms

    @property
    def has_data(self) -> bool:
        return self._transport.has_data()

    def version_of(self, key: ApiKey, at_most: int | None = None) -> int:
        """The version for a request; UnsupportedByBroker if there is none in common."""
        api = APIS[key]
        served = self.versions.get(key)
        version = highest_common(api.stable_versions, served, at_most)
        if version is None:
            end = api.stable_versions.stop if at_most is None else at_most + 1
            wanted = range(api.stable_versions.start, end)
            raise UnsupportedByBroker(self.address, api.name, wanted, served)
        return version

    # Requests

    def ask(
        self, request: Message, *, at_most: int | None = None, timeout_ms: int | None = None
    ) -> Any:
        """Send, and wait for the response."""
        self.send(request, at_most=at_most, timeout_ms=timeout_ms)
        try:
            return self.receive()
        except BaseException:  # an interrupt too: the next response would be that of this request
            self.close()
            raise

    def send(
        self,
        request: Message,
        *,
        at_most: int | None = None,
        version: int | None = None,
        timeout_ms: int | None = None,
    ) -> int:
        """Send without waiting; the correlation id. The highest common version unless one is
        given, or a limit (`at_most`)."""
        key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # all requests have one
        version = self.version_of(key, at_most) if version is None else version
        timeout_ms = self._settings.request_timeout_ms if timeout_ms is None else timeout_ms
        self._sent = (self._sent + 1) & 0x7FFFFFFF
        frame = encode_request(key, version, self._sent, self._settings.client_id, request)
        awaited = Awaited(self._sent, key, version, timeout_ms)
        try:
            self._transport.send(frame, timeout_ms / 1000)
        except OSError as error:
            raise self._failed(awaited, error) from error
        self._awaited.append(awaited)
        return self._sent

    def receive(self) -> Any:
        """The response to the oldest request without one."""
        awaited = self._awaited.popleft()
        try:
            frame = self._receive_frame(awaited)
            correlation_id, at = decode_response_header(awaited.key, awaited.version, frame)
            if correlation_id != awaited.correlation_id:
                raise MalformedMessage(
                    f"it answers request {correlation_id}, not {awaited.correlation_id}"
                )
            if awaited.key == ApiKey.API_VERSIONS:
                return decode_api_versions(frame, awaited.version, at)
            return response_class(awaited.key).decode(frame, awaited.version, at)
        except (OSError, MalformedMessage) as error:
            raise self._failed(awaited, error) from error

    def _receive_frame(self, awaited: Awaited) -> memoryview:
        deadline_s = time.monotonic() + awaited.timeout_ms / 1000
        self._transport.receive_into(memoryview(self._length), _left_s(deadline_s))
        size = int.from_bytes(self._length, "big", signed=True)
        if not 0 <= size <= self._settings.frame_bytes_max:
            raise MalformedMessage(
                f"{size} bytes are announced; at most {self._settings.frame_bytes_max} are allowed"
            )
        if size > WHOLE_BYTES_MAX:
            return self._receive_growing(size, deadline_s)
        frame = self._pool.take(size)
        self._transport.receive_into(frame, _left_s(deadline_s))
        return frame

    def _receive_growing(self, size: int, deadline_s: float) -> memoryview:
        """Memory grows with the bytes that arrive, not with the announced length."""
        frame, end = memoryview(bytearray(WHOLE_BYTES_MAX)), 0
        while True:
            self._transport.receive_into(frame[end:], _left_s(deadline_s))
            end = len(frame)
            if end == size:
                return frame
            larger = memoryview(bytearray(min(size, 2 * end)))
            larger[:end] = frame
            frame = larger

    def _failed(self, awaited: Awaited, error: Exception) -> ConnectionLost:
        self.close()
        api = APIS[awaited.key].name
        if isinstance(error, TimeoutError):
            return RequestTimedOut(self.address, api, awaited.timeout_ms)
        if isinstance(error, MalformedMessage):
            return MalformedAnswer(self.address, api, error)
        return ConnectionLost(self.address, api, error)

    # Opening and closing

    def negotiate(self) -> None:
        """Read the broker's API versions. A broker that is too old for this request answers in
        version 0, and is asked again in version 0."""
        ask = ApiVersionsRequest(SOFTWARE_NAME, "1")
        self.send(ask, version=APIS[ApiKey.API_VERSIONS].stable_versions[-1])
        answer = self.receive()
        if code_of(answer.error_code) == ErrorCode.UNSUPPORTED_VERSION:
            self.send(ask, version=0)
            answer = self.receive()
        code = code_of(answer.error_code)
        if code != ErrorCode.NONE:
            raise kafka_error(code, f"ApiVersions at {self.address}")
        self.versions = {
            api.api_key: range(api.min_version, api.max_version + 1) for api in answer.api_keys
        }

    def interrupt(self) -> None:
        """End it from another thread: a waiting `receive` raises ConnectionLost."""
        self._transport.interrupt()

    def close(self) -> None:
        if self.is_open:
            self.is_open = False
            self._transport.close()


def _left_s(deadline_s: float) -> float:
    return max(0.001, deadline_s - time.monotonic())


def decode_api_versions(frame: memoryview, version: int, at: int) -> ApiVersionsResponse:
    """In the version of the request, or in version 0 if the broker does not support that one."""
    if int.from_bytes(frame[at : at + 2], "big", signed=True) == ErrorCode.UNSUPPORTED_VERSION:
        version = 0
    return ApiVersionsResponse.decode(frame, version, at)


def open_connection(
    address: Address, settings: ClientSettings, open_transport: OpenTransport | None = None
) -> ClientConnection:
    """A connection that is ready for requests; Unreachable or ConnectionLost if that fails."""
    open_transport = open_transport or TRANSPORTS[settings.security_protocol]
    try:
        transport = open_transport(address, settings)
    except OSError as error:
        raise Unreachable({str(address): _reason_of(error)}) from error
    connection = ClientConnection(address, settings, transport)
    try:
        connection.negotiate()
    except BaseException:
        connection.close()
        raise
    return connection


def _reason_of(error: OSError) -> str:
    return "no connection in time" if isinstance(error, TimeoutError) else str(error)
