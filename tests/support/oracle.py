"""Asks Apache Kafka's own classes: one JVM that answers many questions over a pipe.

Owns      the JVM and the form of questions and answers (one JSON object a line, in order).
Promises  `ask_many` sends ahead of the answers, so that thousands of questions a second pass; a
          question that Kafka refuses gives `Refused` with the name of the Java exception, and the
          process lives on.
Leaves    what can be asked to `message_oracle.py`, `records_oracle.py` and `java_clients.py`.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from tests.support.class_archive import archive_of, option_of
from tests.support.java_process import JavaProcess
from tests.support.kafka_jars import KAFKA_VERSION, class_path

CLIENT_PARTS = ("ClientsOracle", "GroupsOracle", "ToolsOracle")
PARTS = ("MessageOracle", "RecordsOracle", "FilesOracle", *CLIENT_PARTS)
Json = Any  # the result of json.loads: callers describe the shapes of the answers


class Refused(Exception):
    """Kafka threw: the full name of the Java exception, and its message."""

    def __init__(self, type: str, message: str) -> None:  # noqa: A002 - the names of the answer
        super().__init__(f"{type}: {message}")
        self.type = type
        self.message = message


class OracleDied(Exception):
    """The JVM ended in the middle of a question: with what it printed last."""


class Oracle:
    """Of the older release only clients and tools can be asked."""

    def __init__(
        self, log_path: Path, version: str = KAFKA_VERSION, *, archive_option: str = ""
    ) -> None:
        self.version = version
        parts = PARTS if version == KAFKA_VERSION else CLIENT_PARTS
        option = archive_option or option_of(_archive(version))
        self._process = JavaProcess(
            "interop.Oracle", parts, log_path=log_path, version=version, options=[option]
        )

    def ask(self, operation: str, **arguments: Json) -> Json:
        """The answer to one question; raises Refused where Kafka threw."""
        (answer,) = self.ask_many([{"op": operation, **arguments}])
        if isinstance(answer, Refused):
            raise answer
        return answer

    def ask_many(self, questions: Iterable[Mapping[str, Json]]) -> list[Json | Refused]:
        """The answers in order, a Refused in the place of each question that Kafka refused."""
        lines = [json.dumps(question).encode() + b"\n" for question in questions]
        # Sent from a thread: with both pipes full, one that only writes would wait forever.
        sender = threading.Thread(target=self._send, args=(lines,), name="oracle-questions")
        sender.start()
        try:
            return [self._receive() for _ in lines]
        finally:
            sender.join()

    def _send(self, lines: list[bytes]) -> None:
        try:
            self._process.stdin.writelines(lines)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the receiving side notices, and says what the JVM printed

    def _receive(self) -> Json | Refused:
        line = self._process.stdout.readline()
        if not line:
            raise OracleDied(self._process.log_tail())
        answer = json.loads(line)
        if "error" in answer:
            return Refused(**answer["error"])
        return answer["ok"]

    def kill(self) -> None:
        """End the JVM and all clients in it as a crash would."""
        self._process.kill()

    def terminate(self) -> None:
        """End the JVM in order: it then writes the class archive that it was asked for."""
        self._process.terminate()

    def close(self) -> None:
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


@cache
def _archive(version: str) -> Path:
    """Of the classes that clients and a tool have loaded when they have been used."""

    def train(option: str) -> None:
        from tests.support.java_clients import CLOSE, FLUSH, JavaClients, run_tool, send

        from ottla.testing.broker import RunningBroker

        with TemporaryDirectory(prefix="oracle-training-") as folder, RunningBroker() as broker:
            log = Path(folder) / "oracle.log"
            with Oracle(log, version, archive_option=option) as oracle:
                clients = JavaClients(oracle, broker.bootstrap_servers)
                clients.create_topic("training")
                clients.produce("training", [send("training", b"value"), FLUSH, CLOSE])
                assert [each.value for each in clients.consume("training")] == [b"value"]
                where = ("--bootstrap-server", broker.bootstrap_servers)
                run_tool(oracle, "org.apache.kafka.tools.TopicCommand", *where, "--describe")
                oracle.terminate()

    return archive_of(f"oracle-{version}", [class_path(version)], train)


def to_base64(value: bytes | bytearray | memoryview | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode("ascii")


def from_base64(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text, validate=True)


def values_or_raise(answers: Iterable[Json | Refused]) -> Iterator[Json]:
    """The answers of `ask_many` where none may be refused."""
    for answer in answers:
        if isinstance(answer, Refused):
            raise answer
        yield answer


OracleOf = Callable[[str], Oracle]  # by the name of a release
