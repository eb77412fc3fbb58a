"""How commands reach a cluster: addresses, client settings, and clear words when they cannot.

Leaves    the protocol to librdkafka (confluent-kafka), which is imported only when it is needed.
"""

from __future__ import annotations

import argparse
import os
import socket
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from ottla.cli.problems import CommandFailed

T = TypeVar("T")

VARIABLES = ("OTTLA_BOOTSTRAP", "KAFKA_BOOTSTRAP_SERVERS")
DEFAULT_SERVERS = "localhost:9092"
DEFAULT_PORT = 9092
TIMEOUT_S = 10.0
TIMEOUT_S_MAX = 3600  # of librdkafka
REACH_S = 5.0
CLIENT_ID = "ottla"
HEARD_MAX = 20


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("connection")
    group.add_argument(
        "-b",
        "--bootstrap",
        "--bootstrap-server",  # as the hands of those who know Kafka's tools write it
        metavar="HOST:PORT",
        help=f"brokers to ask, parted by commas (${VARIABLES[0]}, ${VARIABLES[1]}, or "
        f"{DEFAULT_SERVERS})",
    )
    group.add_argument(
        "-X",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        dest="client_settings",
        help="a setting of librdkafka, such as security.protocol=ssl",
    )
    group.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=timeout_seconds,
        default=TIMEOUT_S,
        help=f"how long to wait for an answer ({TIMEOUT_S:.0f})",
    )


def timeout_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= TIMEOUT_S_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time above 0, at most {TIMEOUT_S_MAX}")
    return seconds


class Connection:
    """Makes clients for one cluster, and turns their errors into words."""

    def __init__(
        self, servers: str, settings: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.servers = servers
        self.timeout_s = timeout_s
        self._settings = dict(settings or {})
        self._heard: deque[str] = deque(maxlen=HEARD_MAX)  # what clients complained about
        self._told = ""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Connection:
        servers = arguments.bootstrap or servers_of(os.environ)
        connection = cls(servers, client_settings(arguments.client_settings), arguments.timeout)
        reach(servers)
        return connection

    # Clients

    def admin(self) -> Any:
        confluent_kafka()
        from confluent_kafka.admin import AdminClient

        return self._made(AdminClient, {})

    def producer(self, **settings: Any) -> Any:
        return self._made(confluent_kafka().Producer, settings)

    def consumer(self, **settings: Any) -> Any:
        return self._made(confluent_kafka().Consumer, settings)

    def _made(self, client: Any, settings: Mapping[str, Any]) -> Any:
        dotted = {name.replace("_", "."): value for name, value in settings.items()}
        try:
            return client(
                {
                    "bootstrap.servers": self.servers,
                    "client.id": CLIENT_ID,
                    "log_level": 0,  # librdkafka's own lines; what matters comes as an error
                    "error_cb": lambda error: self._heard.append(error.str()),
                    **dotted,
                    **self._settings,
                }
            )
        except confluent_kafka().KafkaException as error:
            message = error.args[0].str()
            raise CommandFailed(message, "-X takes librdkafka's settings", code=2) from error

    # Answers

    def wait(self, future: Future[T]) -> T:
        """The answer; CommandFailed where the cluster gives none. Other errors pass."""
        try:
            return future.result(self.timeout_s + 5)  # the request itself has the time-out
        except FutureTimeout:
            raise self.no_answer() from None
        except confluent_kafka().KafkaException as error:
            if is_silence(error.args[0]):
                raise self.no_answer(error.args[0].str()) from error
            raise

    def metadata(self, client: Any, topic: str | None = None) -> Any:
        """Brokers, topics and partitions, as the cluster tells them."""
        words = {} if topic is None else {"topic": topic}
        try:
            return client.list_topics(timeout=self.timeout_s, **words)
        except confluent_kafka().KafkaException as error:
            raise self.no_answer(error.args[0].str()) from error

    def news(self) -> list[str]:
        """Complaints of the clients since the last call, the same one only once in a row."""
        fresh = []
        while self._heard:
            line = self._heard.popleft()
            if line != self._told:
                fresh.append(line)
                self._told = line
        return fresh

    def no_answer(self, reason: str = "") -> CommandFailed:
        heard = self._heard[-1] if self._heard else self._told or reason
        return CommandFailed(
            f"{self.servers} takes connections, but no answer came within {self.timeout_s:g} s"
            + (f": {heard}" if heard else ""),
            "is it a Kafka listener, and are its advertised addresses reachable from here?",
            "TLS and passwords need -X security.protocol=... and what belongs to it",
        )


def servers_of(environment: Mapping[str, str]) -> str:
    return next((environment[name] for name in VARIABLES if environment.get(name)), DEFAULT_SERVERS)


def client_settings(given: list[str]) -> dict[str, str]:
    settings = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not name:
            raise CommandFailed(f"-X {each}: expected NAME=VALUE", code=2)
        settings[name] = value
    return settings


def confluent_kafka() -> Any:
    try:
        import confluent_kafka as library
    except ModuleNotFoundError as error:
        raise CommandFailed(
            "this command needs the package confluent-kafka",
            "install it with: pip install 'ottla[tools]'",
        ) from error
    return library


def reach(servers: str) -> None:
    """Connect once ourselves: librdkafka would try again and again, and not say why it fails."""
    problems = []
    for server in servers.split(","):
        try:
            socket.create_connection(address_of(server), REACH_S).close()
        except OSError as error:
            problems.append(f"no broker answers on {server.strip()}: {error.strerror or error}")
        else:
            return
    raise CommandFailed(
        "\n".join(problems),
        "start one with: ottla up",
        f"or name another with --bootstrap HOST:PORT or the variable {VARIABLES[0]}",
    )


def address_of(server: str) -> tuple[str, int]:
    """Host and port of `host:port`, `host`, `[::1]:port` or `PLAINTEXT://host:port`."""
    text = server.strip().rpartition("://")[2]
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text.strip("[]"), DEFAULT_PORT
    if not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise CommandFailed(f"--bootstrap {server}: expected HOST:PORT", code=2)
    return host.strip("[]"), int(port)


def address_text(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_silence(error: Any) -> bool:
    library = confluent_kafka().KafkaError
    return error.code() in (
        library._TIMED_OUT,
        library._TRANSPORT,
        library._ALL_BROKERS_DOWN,
        library._RESOLVE,
        library._AUTHENTICATION,
        library._SSL,
    )
