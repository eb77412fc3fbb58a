"""How commands connect to a cluster: addresses, client settings, and reasons for failures.

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

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.errors import USAGE, CommandFailed

T = TypeVar("T")

VARIABLES = ("OTTLA_BOOTSTRAP", "KAFKA_BOOTSTRAP_SERVERS")
DEFAULT_SERVERS = "localhost:9092"
DEFAULT_PORT = 9092
TIMEOUT_S = 10.0
TIMEOUT_S_MAX = 3600  # of librdkafka
CONNECT_S = 5.0
CLIENT_ID = "ottla"
ERRORS_MAX = 20


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("connection")
    group.add_argument(
        "-b",
        "--bootstrap",
        "--bootstrap-server",  # the name in Kafka's own tools
        metavar="HOST:PORT",
        help=f"bootstrap servers, separated by commas (default: ${VARIABLES[0]}, "
        f"${VARIABLES[1]}, or {DEFAULT_SERVERS})",
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
        help=f"how long to wait for a response (default: {TIMEOUT_S:.0f})",
    )


def timeout_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= TIMEOUT_S_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds above 0 and at most {TIMEOUT_S_MAX}"
        )
    return seconds


class Connection:
    """Creates clients of one cluster, and explains their errors."""

    def __init__(
        self, servers: str, settings: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.servers = servers
        self.timeout_s = timeout_s
        self._settings = dict(settings or {})
        self._errors: deque[str] = deque(maxlen=ERRORS_MAX)  # reported by the clients
        self._last_reported = ""

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> Connection:
        servers = arguments.bootstrap or servers_of(os.environ)
        connection = cls(servers, client_settings(arguments.client_settings), arguments.timeout)
        require_reachable(servers)
        return connection

    # Clients

    def admin(self) -> Any:
        confluent_kafka()
        from confluent_kafka.admin import AdminClient

        return self._create(AdminClient, {})

    def producer(self, **settings: Any) -> Any:
        return self._create(confluent_kafka().Producer, settings)

    def consumer(self, **settings: Any) -> Any:
        return self._create(confluent_kafka().Consumer, settings)

    def _create(self, client: Any, settings: Mapping[str, Any]) -> Any:
        dotted = {name.replace("_", "."): value for name, value in settings.items()}
        try:
            return client(
                {
                    "bootstrap.servers": self.servers,
                    "client.id": CLIENT_ID,
                    "log_level": 0,  # errors arrive through error_cb
                    "error_cb": lambda error: self._errors.append(error.str()),
                    **dotted,
                    **self._settings,
                }
            )
        except confluent_kafka().KafkaException as error:
            message = error.args[0].str()
            raise CommandFailed(message, "-X takes librdkafka's settings", code=USAGE) from error

    # Responses

    def wait(self, future: Future[T]) -> T:
        """The result; CommandFailed if the cluster does not respond. Other errors are raised."""
        try:
            return future.result(self.timeout_s + 5)  # the request itself has the timeout
        except FutureTimeout:
            raise self.no_answer() from None
        except confluent_kafka().KafkaException as error:
            if is_no_response(error.args[0]):
                raise self.no_answer(error.args[0].str()) from error
            raise

    def metadata(self, client: Any, topic: str | None = None) -> Any:
        """Brokers, topics and partitions of the cluster."""
        only = {} if topic is None else {"topic": topic}
        try:
            return client.list_topics(timeout=self.timeout_s, **only)
        except confluent_kafka().KafkaException as error:
            raise self.no_answer(error.args[0].str()) from error

    def new_errors(self) -> list[str]:
        """Errors of the clients since the last call, without repetitions."""
        errors = []
        while self._errors:
            line = self._errors.popleft()
            if line != self._last_reported:
                errors.append(line)
                self._last_reported = line
        return errors

    def no_answer(self, reason: str = "") -> CommandFailed:
        cause = self._errors[-1] if self._errors else self._last_reported or reason
        return CommandFailed(
            f"{self.servers} accepts connections, but did not respond within {self.timeout_s:g} s"
            + (f": {cause}" if cause else ""),
            "check that it is a Kafka listener and that its advertised addresses are reachable",
            "TLS and SASL need -X security.protocol=... and the related settings",
        )


def servers_of(environment: Mapping[str, str]) -> str:
    return next((environment[name] for name in VARIABLES if environment.get(name)), DEFAULT_SERVERS)


def client_settings(given: list[str]) -> dict[str, str]:
    return parse_name_values("-X", given)


def confluent_kafka() -> Any:
    try:
        import confluent_kafka as library
    except ModuleNotFoundError as error:
        raise CommandFailed(
            "this command needs the package confluent-kafka",
            "install it with: pip install 'ottla[tools]'",
        ) from error
    return library


def require_reachable(servers: str) -> None:
    """Connect once with a plain socket: librdkafka would retry without saying why it fails."""
    problems = []
    for server in servers.split(","):
        try:
            socket.create_connection(address_of(server), CONNECT_S).close()
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
        raise CommandFailed(f"--bootstrap {server}: expected HOST:PORT", code=USAGE)
    return host.strip("[]"), int(port)


def address_text(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_no_response(error: Any) -> bool:
    library = confluent_kafka().KafkaError
    return error.code() in (
        library._TIMED_OUT,
        library._TRANSPORT,
        library._ALL_BROKERS_DOWN,
        library._RESOLVE,
        library._AUTHENTICATION,
        library._SSL,
    )
