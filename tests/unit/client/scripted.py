"""A broker that answers as the test specifies: real sockets and frames, answers from a script.

For what a single real broker never does: lead and not lead, answer in old versions, talk nonsense.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Mapping
from typing import Any, Self

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.headers import decode_request_header, encode_response
from ottla.protocol.message import Message
from ottla.protocol.messages import request_class
from ottla.protocol.messages.api_versions_response import ApiVersion, ApiVersionsResponse
from ottla.protocol.messages.metadata_response import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

Answer = Message | bytes | None  # bytes go out as they are; None ends the connection
Script = Callable[[Any], Answer]

VERSIONS = {
    ApiKey.PRODUCE: (3, 13),
    ApiKey.FETCH: (4, 17),
    ApiKey.LIST_OFFSETS: (1, 9),
    ApiKey.METADATA: (1, 12),
    ApiKey.OFFSET_COMMIT: (2, 9),
    ApiKey.OFFSET_FETCH: (1, 9),
    ApiKey.FIND_COORDINATOR: (0, 6),
    ApiKey.API_VERSIONS: (0, 4),
    ApiKey.INIT_PRODUCER_ID: (0, 5),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (2, 4),
    ApiKey.DESCRIBE_CONFIGS: (1, 4),
}
TOPIC_ID = bytes(range(16))


class ScriptedBroker:
    """Threads: one per connection, all ended by `close`."""

    def __init__(
        self,
        scripts: Mapping[ApiKey, Script] | None = None,
        versions: Mapping[ApiKey, tuple[int, int]] = VERSIONS,
    ) -> None:
        self.scripts = dict(scripts or {})
        self.versions = versions
        self.asked: list[Any] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for each in list(self._open):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads:
            thread.join(120)

    def requests(self, key: ApiKey) -> list[Any]:
        return [each for each in self.asked if key == each.API_KEY]

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            self._open.append(client)
            thread = threading.Thread(target=self._serve, args=(client,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                while self._answer(client):
                    pass
            except OSError:
                pass

    def _answer(self, client: socket.socket) -> bool:
        head = client.recv(4, socket.MSG_WAITALL)
        if len(head) < 4:
            return False
        frame = memoryview(client.recv(struct.unpack(">i", head)[0], socket.MSG_WAITALL))
        key, version, correlation_id, _client_id, at = decode_request_header(frame)
        answer: Answer
        if key == ApiKey.API_VERSIONS and key not in self.scripts:
            answer = self._api_versions()
        else:
            request = request_class(key).decode(frame, version, at)
            self.asked.append(request)
            answer = self.scripts[key](request)
        if answer is None:
            return False
        if isinstance(answer, bytes):
            client.sendall(answer)
        else:
            client.sendall(b"".join(encode_response(key, version, correlation_id, answer)))
        return True

    def _api_versions(self) -> ApiVersionsResponse:
        return ApiVersionsResponse(
            api_keys=[ApiVersion(key, *versions) for key, versions in self.versions.items()]
        )


def metadata(
    brokers: Mapping[int, ScriptedBroker],
    leader: int,
    epoch: int = 0,
    topic: str = "t",
    topic_id: bytes = TOPIC_ID,
    partitions: int = 1,
) -> MetadataResponse:
    """One topic, all of whose partitions have the same leader."""
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(broker_id, "127.0.0.1", broker.port)
            for broker_id, broker in brokers.items()
        ],
        controller_id=min(brokers),
        topics=[
            MetadataResponseTopic(
                0,
                topic,
                topic_id,
                partitions=[
                    MetadataResponsePartition(0, number, leader, epoch)
                    for number in range(partitions)
                ],
            )
        ],
    )
