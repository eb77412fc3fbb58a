"""Sends the script of admin requests to Apache Kafka and keeps its answers in `kafka_answers.json`.

    python -m tests.unit.controller.record_kafka_answers

Needs Java and Maven, as the tests marked `java` do.
"""

from __future__ import annotations

import json
import socket
import struct
import tempfile
from pathlib import Path

from tests.support.apache_kafka import ApacheKafka
from tests.unit.controller.admin_script import Step, script
from tests.unit.controller.answers import Plain, plain

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.headers import request_header_version, response_header_version
from ottla.protocol.message import Message
from ottla.protocol.messages import response_class
from ottla.protocol.messages.request_header import RequestHeader
from ottla.protocol.messages.response_header import ResponseHeader

KEPT = Path(__file__).parent / "kafka_answers.json"


def main() -> None:
    with ApacheKafka(Path(tempfile.mkdtemp())) as node:
        host, port = node.bootstrap.split(":")
        with socket.create_connection((host, int(port))) as connection:
            answers = {step.label: record(connection, step) for step in script()}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items())
    KEPT.write_text(f"{{\n{lines}\n}}\n")


def record(connection: socket.socket, step: Step) -> Plain:
    return plain(ask(connection, step))


def ask(connection: socket.socket, step: Step) -> Message:
    key = ApiKey(step.request.API_KEY)  # type: ignore[attr-defined]
    header = RequestHeader(int(key), step.version, 0, "recorder")
    body = header.encode(request_header_version(key, step.version))
    body += step.request.encode(step.version)
    connection.sendall(struct.pack(">i", len(body)) + body)
    (size,) = struct.unpack(">i", receive(connection, 4))
    frame = receive(connection, size)
    _, at = ResponseHeader.decode_prefix(frame, response_header_version(key, step.version))
    return response_class(key).decode(frame, step.version, at)


def receive(connection: socket.socket, size: int) -> bytes:
    received = b""
    while len(received) < size:
        part = connection.recv(size - len(received))
        if not part:
            raise EOFError
        received += part
    return received


if __name__ == "__main__":
    main()
