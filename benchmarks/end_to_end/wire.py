"""A minimal client with one socket, for exact control over requests.

Both brokers get the same bytes, in versions that both serve.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable, Sequence
from typing import Any, Self

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import response_class
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

VERSIONS = {
    ApiKey.PRODUCE: 9,
    ApiKey.FETCH: 12,
    ApiKey.LIST_OFFSETS: 5,
    ApiKey.CREATE_TOPICS: 7,
    ApiKey.DELETE_TOPICS: 5,
    ApiKey.API_VERSIONS: 3,
    ApiKey.OFFSET_COMMIT: 8,
    ApiKey.FIND_COORDINATOR: 3,
    ApiKey.METADATA: 9,
}
TOPIC_EXISTS = 36
SERVED_S = 300.0
RETRY_S = 0.005
_LENGTH = struct.Struct(">i")


class Wire:
    def __init__(self, bootstrap: str, patience_s: float = 60.0) -> None:
        host, _, port = bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), patience_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, frame: bytes) -> None:
        self._socket.sendall(frame)

    def receive(self) -> bytes:
        (size,) = _LENGTH.unpack(self._receive_exactly(4))
        return self._receive_exactly(size)

    def ask(self, key: ApiKey, request: Message) -> Any:
        self.send(frame_of(key, request))
        return answer_in(key, self.receive())

    def _receive_exactly(self, count: int) -> bytes:
        parts = []
        while count:
            part = self._socket.recv(count)
            if not part:
                raise ConnectionError("the broker has closed the connection")
            count -= len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


def frame_of(key: ApiKey, request: Message) -> bytes:
    segments = encode_request(key, VERSIONS[key], 1, "benchmark", request)
    return b"".join(map(bytes, segments))


def answer_in(key: ApiKey, frame: bytes) -> Any:
    view = memoryview(frame)
    _, at = decode_response_header(key, VERSIONS[key], view)
    return response_class(key).decode(view, VERSIONS[key], at)


# Requests


def batch_of(value_bytes: int, records: int = 1, key: bytes | None = None) -> bytes:
    now_ms = int(time.time() * 1000)
    value = bytes(value_bytes)
    return bytes(build_batch([Record(at, now_ms, key, value) for at in range(records)]))


def produce_frame(topic: str, partitions: Iterable[int], batch: bytes, acks: int = 1) -> bytes:
    data = [PartitionProduceData(index, batch) for index in partitions]
    request = ProduceRequest(None, acks, 30_000, [TopicProduceData(topic, partition_data=data)])
    return frame_of(ApiKey.PRODUCE, request)


def fetch_frame(topic: str, partition: int, offset: int, bytes_max: int = 1 << 20) -> bytes:
    wanted = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=bytes_max)
    request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=bytes_max, session_epoch=-1)
    request.topics = [FetchTopic(topic, partitions=[wanted])]
    return frame_of(ApiKey.FETCH, request)


def say_hello(wire: Wire) -> None:
    wire.ask(ApiKey.API_VERSIONS, ApiVersionsRequest("benchmark", "1"))


def create_topics(
    bootstrap: str,
    topics: Sequence[str],
    partitions: int = 1,
    configs: dict[str, str] | None = None,
) -> None:
    """Create them, and wait until every partition is writable."""
    settings = [CreatableTopicConfig(name, value) for name, value in (configs or {}).items()]
    wanted = [CreatableTopic(topic, partitions, 1, configs=settings) for topic in topics]
    with Wire(bootstrap, 300.0) as wire:
        answer = wire.ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest(wanted, 300_000))
        failed = [each for each in answer.topics if each.error_code not in (0, TOPIC_EXISTS)]
        if failed:
            raise RuntimeError(f"not created: {failed}")
    for topic in topics:
        wait_until_writable(bootstrap, topic, range(partitions))


def delete_topics(bootstrap: str, topics: Sequence[str]) -> None:
    with Wire(bootstrap) as wire:
        wire.ask(ApiKey.DELETE_TOPICS, DeleteTopicsRequest([], list(topics), 30_000))


def wait_until_writable(bootstrap: str, topic: str, partitions: Iterable[int]) -> None:
    """Until one request has appended a record to each partition."""
    frame = produce_frame(topic, partitions, batch_of(10, key=b"k"))
    ask_until_served(bootstrap, ApiKey.PRODUCE, frame, "responses", "partition_responses")


def wait_until_led(bootstrap: str, topic: str, partitions: Iterable[int]) -> None:
    """Until each partition returns its end offset."""
    wanted = [ListOffsetsPartition(index, timestamp=-1) for index in partitions]
    request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, wanted)])
    frame = frame_of(ApiKey.LIST_OFFSETS, request)
    ask_until_served(bootstrap, ApiKey.LIST_OFFSETS, frame, "topics", "partitions")


def ask_until_served(
    bootstrap: str, key: ApiKey, frame: bytes, topics: str, partitions: str
) -> None:
    """Repeat until no partition returns an error."""
    end_s = time.monotonic() + SERVED_S
    while time.monotonic() < end_s:
        try:
            with Wire(bootstrap) as wire:
                while time.monotonic() < end_s:
                    wire.send(frame)
                    answer = answer_in(key, wire.receive())
                    parts = [
                        part
                        for each in getattr(answer, topics)
                        for part in getattr(each, partitions)
                    ]
                    if not any(part.error_code for part in parts):
                        return
                    time.sleep(RETRY_S)
        except OSError:
            time.sleep(RETRY_S)
    raise TimeoutError(f"{key.name} is not served")
