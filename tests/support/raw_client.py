"""A client that sends exactly the given requests: for exact versions and exact error codes.

Our own message classes over a plain socket, without retries, metadata or opinions.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Any, Self

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import response_class
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.produce_response import PartitionProduceResponse
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

PATIENCE_S = 120.0
TOPIC_IDS_FROM = 13


class RawClient:
    def __init__(self, bootstrap: str, client_id: str = "raw") -> None:
        host, port = bootstrap.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), PATIENCE_S)
        self._socket.settimeout(PATIENCE_S)
        self._client_id = client_id
        self._sent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def ask(self, request: Message, version: int) -> Any:
        """Send a request and wait for its answer."""
        self.send(request, version)
        return self.receive(request, version)

    def send(self, request: Message, version: int) -> None:
        key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests
        self._sent += 1
        frame = encode_request(key, version, self._sent, self._client_id, request)
        self._socket.sendall(b"".join(frame))

    def receive(self, request: Message, version: int) -> Any:
        """The next answer, which must be the one to `request`."""
        key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]
        (size,) = struct.unpack(">i", self._read(4))
        frame = memoryview(self._read(size))
        _, at = decode_response_header(key, version, frame)
        return response_class(key).decode(frame, version, at)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            if not more:
                raise ConnectionError("closed by the broker")
            data += more
        return bytes(data)

    # What most tests need

    def create_topic(self, name: str, partitions: int = 1) -> bytes:
        """Its id."""
        wanted = CreatableTopic(name, partitions, 1)
        (answer,) = self.ask(CreateTopicsRequest([wanted], timeout_ms=30_000), 7).topics
        assert answer.error_code == 0, answer
        topic_id: bytes = answer.topic_id
        return topic_id

    def produce(
        self,
        topic: str,
        batch: bytes | bytearray,
        *,
        partition: int = 0,
        transactional_id: str | None = None,
        version: int = 9,
        topic_id: bytes = bytes(16),
        acks: int = -1,
    ) -> PartitionProduceResponse:
        """Send one batch; what became of it. From version 13 on topics go by id."""
        data = PartitionProduceData(partition, batch)
        name = topic if version < TOPIC_IDS_FROM else ""
        request = ProduceRequest(
            transactional_id, acks, 30_000, [TopicProduceData(name, topic_id, [data])]
        )
        answer = self.ask(request, version).responses[0].partition_responses[0]
        assert isinstance(answer, PartitionProduceResponse)
        return answer


def batch_of(
    *values: bytes,
    producer_id: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    is_transactional: bool = False,
    timestamp_ms: int | None = None,
    key: bytes | None = None,
) -> bytearray:
    """One batch of uncompressed records, of now unless another time is given."""
    if timestamp_ms is None:
        timestamp_ms = time.time_ns() // 1_000_000
    rows = [Record(at, timestamp_ms, key, value, ()) for at, value in enumerate(values)]
    return build_batch(
        rows,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=is_transactional,
    )
