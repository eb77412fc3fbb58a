"""One connection that sends any bytes as a request, and returns the result.

The result is an answer, the end of the connection, or nothing. That a request is left unanswered
shows without waiting for a timeout: the request sent after it is answered first.
"""

from __future__ import annotations

import select
import socket
import struct
from enum import Enum
from typing import NamedTuple

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import response_class
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest

PATIENCE_S = 60.0  # nothing is asked that is never answered; machines may be busy
CLIENT_ID = "differential"
PROBE_ID = 0x7EEDBEEF  # the correlation id of the request that shows that there was no answer


class Nothing(Enum):
    """What can come back instead of an answer."""

    CLOSED = "closed"
    SILENT = "no answer"


class Undecodable(NamedTuple):
    """An answer that is not one of the API and version that was asked."""

    reason: str


Outcome = Message | Nothing | Undecodable


class Connection:
    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sent = 0
        self.is_open = True

    def close(self) -> None:
        self._socket.close()
        self.is_open = False

    def send(self, request: Message, version: int) -> int:
        """Its correlation id. UnsupportedVersion or UnencodableValue if the version cannot say it;
        then nothing was sent."""
        self._sent += 1
        frame = encode_request(key_of(request), version, self._sent, CLIENT_ID, request)
        self.send_bytes(b"".join(frame))
        return self._sent

    def send_bytes(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError:
            self.close()

    def send_probe(self) -> None:
        """Send a request whose answer shows that the one before it is unanswered, not slow."""
        probe = encode_request(ApiKey.API_VERSIONS, 0, PROBE_ID, CLIENT_ID, ApiVersionsRequest())
        self.send_bytes(b"".join(probe))

    def end_sending(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def has_answer(self) -> bool:
        """Whether something has come that was not received; the end of the connection, too."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def receive(self, key: ApiKey, version: int, correlation_id: int) -> Outcome:
        frame = self.receive_frame()
        if frame is None:
            return Nothing.CLOSED
        if struct.unpack_from(">i", frame)[0] == PROBE_ID:
            return Nothing.SILENT
        return decode(frame, key, version, correlation_id)

    def receive_frame(self) -> bytes | None:
        """The next answer, without its length; None when the connection has ended."""
        size = self._read(4)
        frame = self._read(struct.unpack(">i", size)[0]) if size is not None else None
        if frame is None:
            self.close()
        return frame

    def _read(self, size: int) -> bytes | None:
        data = bytearray()
        while self.is_open and len(data) < size:
            try:
                more = self._socket.recv(size - len(data))
            except ConnectionError:
                return None
            if not more:
                return None
            data += more
        return bytes(data) if self.is_open else None


def key_of(request: Message) -> ApiKey:
    return ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests


def decode(frame: bytes, key: ApiKey, version: int, correlation_id: int) -> Outcome:
    """ApiVersions answers unknown versions in version 0, and Kafka sends clients that."""
    try:
        answered_id, at = decode_response_header(key, version, memoryview(frame))
        if answered_id != correlation_id:
            return Undecodable(f"correlation id {answered_id} instead of {correlation_id}")
        return response_class(key).decode(memoryview(frame), version, at)
    except MalformedMessage as error:
        return Undecodable(str(error))
