"""How commands connect to a cluster: addresses, client settings, and reasons for failures.

Leaves    the protocol to librdkafka (confluent-kafka), which is imported only when it is needed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.arguments.numbers import seconds
from ottla.cli.arguments.texts import Once
from ottla.cli.cluster.client_errors import error_text
from ottla.cli.cluster.deferred_imports import deferred_import
from ottla.cli.cluster.listeners import listener_problem
from ottla.cli.errors import USAGE, CommandFailed
from ottla.config.addresses import Address, parse_addresses

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

VARIABLES = ("OTTLA_BOOTSTRAP", "KAFKA_BOOTSTRAP_SERVERS")
DEFAULT_SERVERS = "localhost:9092"
TIMEOUT_S = 10.0
TIMEOUT_S_MIN, TIMEOUT_S_MAX = 0.001, 3600  # of librdkafka
CONNECT_S = 5.0
WAITING = "waiting for response"  # of librdkafka, which has sent the request
CLIENT_ID = "ottla"
PLAINTEXT = "plaintext"
ERRORS_MAX = 20
REPEAT_S = 60.0
GROUP_ID = "group.id"
FUNCTIONS = frozenset(
    {"error_cb", "throttle_cb", "stats_cb", "oauth_cb", "logger", "on_commit", "on_delivery"}
)  # settings of confluent-kafka, not of librdkafka
# Settings that -X may not change, and what to do instead, or why.
REFUSED_SETTINGS = {
    "bootstrap.servers": "use --bootstrap HOST:PORT",
    "metadata.broker.list": "use --bootstrap HOST:PORT",
    GROUP_ID: "use --group NAME",
    "enable.auto.offset.store": "only offsets of printed records are committed",
    "enable.partition.eof": "it is how the end of a partition is found",
    "delivery.report.only.error": "acknowledged records are counted",
    "default.topic.config": "give each setting of topics with -X",
    **dict.fromkeys(sorted(FUNCTIONS), "its value is a function of Python"),
}


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("connection")
    group.add_argument(
        "-b",
        "--bootstrap",
        "--bootstrap-server",  # the name in Kafka's own tools
        metavar="HOST:PORT",
        action=Once,
        several="separate them by commas",
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
        type=seconds(TIMEOUT_S_MIN, TIMEOUT_S_MAX),
        default=TIMEOUT_S,
        help=f"how long to wait for a response (default: {TIMEOUT_S:.0f})",
    )


class NoResponse(CommandFailed):
    """A request was not answered in time. It may have been carried out nevertheless."""


class ClusterConnection:
    """Creates clients of one cluster, and explains their errors."""

    def __init__(
        self, servers: str, settings: Mapping[str, str] | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self.servers = servers
        self.timeout_s = timeout_s
        self._settings = dict(settings or {})
        self._errors: deque[str] = deque(maxlen=ERRORS_MAX)  # reported by the clients
        self._last_reported = ""
        self._silent_until_s: dict[str, float] = {}  # of each error that was reported
        self._clients: list[Any] = []

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> ClusterConnection:
        servers = valid_servers(arguments.bootstrap)
        settings = parse_name_values("-X", arguments.client_settings)
        for name in settings:
            if name in REFUSED_SETTINGS:
                reason = REFUSED_SETTINGS[name]
                if name == GROUP_ID and not hasattr(arguments, "group"):
                    reason = "this command joins no group"
                raise CommandFailed(f"-X {name}: {reason}", code=USAGE)
        connection = cls(servers, settings, arguments.timeout)
        require_reachable(connection.addresses, connection.security_protocol)
        return connection

    @property
    def addresses(self) -> list[Address]:
        return parse_addresses(self.servers)

    @property
    def security_protocol(self) -> str:
        return self._settings.get("security.protocol", PLAINTEXT)

    # Clients

    def admin(self) -> Any:
        confluent_kafka()
        from confluent_kafka.admin import AdminClient

        return self._create(AdminClient, {})

    def producer(self, **settings: Any) -> Any:
        return self._create(confluent_kafka().Producer, settings)

    def consumer(self, **settings: Any) -> Any:
        """A consumer; without automatic commits it is no member of a group."""
        if settings.get("enable_auto_commit") is False:
            refuse_group_settings(self._settings)
        return self._create(confluent_kafka().Consumer, settings)

    def _create(self, client: Any, settings: Mapping[str, Any]) -> Any:
        dotted = {name.replace("_", "."): value for name, value in settings.items()}
        try:
            created = client(
                {
                    "bootstrap.servers": self.servers,
                    "client.id": CLIENT_ID,
                    "log_level": 0,  # errors arrive through error_cb
                    "error_cb": self._note_error,
                    **dotted,
                    **self._settings,
                }
            )
        except confluent_kafka().KafkaException as error:
            message = error.args[0].str().strip()
            # The message may have another name of the setting than the one that was given.
            given = f": {', '.join(self._settings)}" if self._settings else ""
            raise CommandFailed(
                message, f"-X takes settings of librdkafka{given}", code=USAGE
            ) from error
        self._clients.append(created)
        return created

    def _note_error(self, error: Any) -> None:
        text = error_text(error.str())
        if text is not None:
            self._errors.append(text)

    # Responses

    def wait(self, future: Future[T]) -> T:
        """The result; CommandFailed if the cluster does not respond. Other errors are raised."""
        try:
            return future.result(self.timeout_s + 5)  # the request itself has the timeout
        except TimeoutError:
            raise self.no_response() from None
        except confluent_kafka().KafkaException as error:
            raise self.failure(error.args[0]) from error

    def failure(self, error: Any) -> Exception:
        """The exception for an error in a response: CommandFailed if there was no response."""
        if is_no_response(error):
            return self._not_answered(error.str())
        exception: Exception = confluent_kafka().KafkaException(error)
        return exception

    def metadata(self, client: Any, topic: str | None = None) -> Any:
        """Brokers, topics and partitions of the cluster."""
        only = {} if topic is None else {"topic": topic}
        try:
            return client.list_topics(timeout=self.timeout_s, **only)
        except confluent_kafka().KafkaException as error:
            raise self.no_response(error.args[0].str()) from error

    def new_errors(self) -> list[str]:
        """Errors of the clients since the last call; each one again after a minute."""
        errors = []
        now_s = time.monotonic()
        while self._errors:
            self._last_reported = line = self._errors.popleft()
            if now_s >= self._silent_until_s.get(line, now_s):
                errors.append(line)
                self._silent_until_s[line] = now_s + REPEAT_S
        return errors

    @property
    def last_error(self) -> str:
        return self._errors[-1] if self._errors else self._last_reported

    def _not_answered(self, reason: str = "") -> NoResponse:
        """There was no response to a request that may have been sent."""
        if WAITING not in reason:
            return self.no_response(reason)
        return NoResponse(
            f"{self.servers} accepted the request, but did not respond within {self.timeout_s:g} s",
            "a change waits for the controller, and the controller for ZooKeeper: see the logs of "
            "the brokers",
            "it may still be made",
        )

    def no_response(self, reason: str = "") -> NoResponse:
        for client in self._clients:
            client.poll(0)  # calls error_cb
        cause = self.last_error or reason
        return NoResponse(
            f"{self.servers} accepts connections, but did not respond within {self.timeout_s:g} s"
            + (f": {cause}" if cause else ""),
            "check that it is a Kafka listener and that its advertised addresses are reachable",
            "TLS and SASL need -X security.protocol=... and the related settings",
        )


def valid_servers(given: str | None) -> str:
    """The bootstrap servers, of the option or of a variable. CommandFailed names which."""
    option, servers = servers_of(given, os.environ)
    refuse_ports(option, servers)
    try:
        parse_addresses(servers)
    except ValueError as error:
        raise CommandFailed(f"{option}: {error}", code=USAGE) from error
    return servers


def refuse_ports(option: str, servers: str) -> None:
    """A port without a host is a number, and a number would be a host with the default port."""
    for each in servers.split(","):
        if each.strip().isdigit():
            port = each.strip()
            raise CommandFailed(
                f"{option}: {port} is not HOST:PORT; did you mean localhost:{port}?", code=USAGE
            )


def refuse_group_settings(settings: Mapping[str, str]) -> None:
    """Without a group, offsets would be committed to one that was not named."""
    if settings.get("enable.auto.commit", "false").lower() != "false":
        raise CommandFailed("-X enable.auto.commit: use --group NAME", code=USAGE)
    if "auto.offset.reset" in settings:
        raise CommandFailed(
            "-X auto.offset.reset: without --group use --offset start or end", code=USAGE
        )


def servers_of(given: str | None, environment: Mapping[str, str]) -> tuple[str, str]:
    """The bootstrap servers, and before them the option or variable that named them."""
    if given is not None:
        return "--bootstrap", given
    for name in VARIABLES:
        if environment.get(name):
            return name, environment[name]
    return "default", DEFAULT_SERVERS


def confluent_kafka() -> Any:
    try:
        with deferred_import("asyncio"):  # a third of the time; only asynchronous clients use it
            import confluent_kafka as library
    except ModuleNotFoundError as error:
        raise CommandFailed(
            "this command needs the package confluent-kafka",
            "install it with: pip install 'ottla[tools]'",
        ) from error
    return library


def require_reachable(addresses: Sequence[Address], security_protocol: str) -> None:
    """Connect once without librdkafka, which would retry without saying why it fails."""
    problems = []
    advice: list[str] = []
    for address in addresses:
        try:
            problem = listener_problem(address, security_protocol, CONNECT_S)
        except (OSError, UnicodeError) as error:
            reason = getattr(error, "strerror", None) or error
            problems.append(f"no broker responds on {address}: {reason}")
            advice = advice or start_advice(address)
        else:
            if problem is None:
                return
            problems.append(f"{address}: {problem}")
    raise CommandFailed(
        "\n".join(problems),
        *advice,
        f"choose another address with --bootstrap HOST:PORT or the variable {VARIABLES[0]}",
    )


def start_advice(address: Address) -> list[str]:
    """How to start a broker there, if it is on this machine."""
    if not address.is_local:
        return []
    listen = "" if str(address) == DEFAULT_SERVERS else f" --listen {address}"
    return [f"start a broker with: ottla up{listen}"]


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
