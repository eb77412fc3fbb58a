"""What a client is configured with: addresses, timeouts, sizes. Kafka's names and defaults.

Promises  picklable; a name or a value that is not understood is refused, never ignored.
Leaves    the use of each setting to the other files of this folder.

Declared with `config.options`, as the settings of brokers are. Three defaults are not Kafka's:
batches are passed on as bytes, and larger pieces are faster while they fit into the processor's
cache. `max.partition.fetch.bytes` is 8 MiB (not 1), `fetch.max.bytes` 16 MiB (not 50),
`max.request.size` 4 MiB (not 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from ottla.client.errors import InvalidSetting
from ottla.config.addresses import Address, parse_address
from ottla.config.checks import anything, at_least, between, one_of
from ottla.config.kinds import BOOLEAN, INT, LONG, STRING, Kind
from ottla.config.options import INT64_MAX, MIB, InvalidOption, Option, invalid, option

READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
PLAINTEXT = "PLAINTEXT"
BOOTSTRAP_SERVERS = "bootstrap.servers"


def parse_addresses(text: str) -> tuple[Address, ...]:
    """`host:port` separated by commas; IPv6 in brackets."""
    try:
        found = [parse_address(each.strip(), None) for each in text.split(",") if each.strip()]
    except ValueError as error:
        raise _refused(BOOTSTRAP_SERVERS, text, str(error)) from None
    if not found:
        raise _refused(BOOTSTRAP_SERVERS, repr(text), "it names no address")
    return tuple(found)


def _refused(name: str, value: object, reason: str) -> InvalidSetting:
    return InvalidSetting(name, invalid(name, value, reason))


def _unusable(name: str, reason: str) -> InvalidSetting:
    """Without the value: that of `sasl.jaas.config` is a secret, and errors are logged."""
    return InvalidSetting(name, f"Invalid configuration {name}: {reason}")


def _is_supported(name: str, value: Any) -> str | None:
    if value == PLAINTEXT:
        return None
    return invalid(name, value, f"TLS and SASL are not supported yet, only {PLAINTEXT} is")


def _parse_acks(text: str) -> int:
    """0 is refused: without a response, records can be neither counted nor sent again."""
    numbers = {"all": -1, "-1": -1, "1": 1}
    if text not in numbers:
        raise ValueError("Value must be one of: all, -1, 1")
    return numbers[text]


ACKS: Kind[int] = Kind("STRING", 2, _parse_acks, lambda value: "all" if value == -1 else str(value))


@dataclass(frozen=True)
class ClientSettings:
    bootstrap_servers: str = field(
        metadata={
            "option": Option(
                BOOTSTRAP_SERVERS, "", STRING, anything, "Brokers to begin with: host:port, ..."
            )
        }
    )
    client_id: str = option(
        "client.id", "ottla", STRING, anything, "Names the client in the broker's logs and quotas."
    )
    security_protocol: str = option(
        "security.protocol", PLAINTEXT, STRING, _is_supported, "Only PLAINTEXT so far."
    )

    # Timeouts
    request_timeout_ms: int = option(
        "request.timeout.ms", 30_000, INT, at_least(1), "How long to wait for one response."
    )
    default_api_timeout_ms: int = option(
        "default.api.timeout.ms",
        60_000,
        INT,
        at_least(1),
        "How long to retry a request, or reading without progress, before it fails.",
    )
    delivery_timeout_ms: int = option(
        "delivery.timeout.ms",
        120_000,
        INT,
        at_least(1),
        "How long to retry a write without progress before it fails.",
    )
    connection_timeout_ms: int = option(
        "socket.connection.setup.timeout.ms",
        10_000,
        INT,
        at_least(1),
        "How long to wait for a connection.",
    )
    retry_backoff_ms: int = option(
        "retry.backoff.ms", 100, INT, at_least(0), "The first pause between attempts; it doubles."
    )
    retry_backoff_max_ms: int = option(
        "retry.backoff.max.ms", 1_000, INT, at_least(0), "The longest pause between attempts."
    )

    # Sockets
    send_buffer_bytes: int = option(
        "send.buffer.bytes", -1, INT, at_least(-1), "SO_SNDBUF; -1 leaves it to the system."
    )
    receive_buffer_bytes: int = option(
        "receive.buffer.bytes", -1, INT, at_least(-1), "SO_RCVBUF; -1 leaves it to the system."
    )

    # Reading
    isolation_level: str = option(
        "isolation.level",
        READ_UNCOMMITTED,
        STRING,
        one_of(READ_UNCOMMITTED, READ_COMMITTED),
        "read_committed leaves out records of aborted and open transactions.",
    )
    fetch_max_bytes: int = option(
        "fetch.max.bytes", 16 * MIB, INT, at_least(1), "Bytes of records in one Fetch response."
    )
    max_partition_fetch_bytes: int = option(
        "max.partition.fetch.bytes", 8 * MIB, INT, at_least(1), "The same for each partition."
    )
    fetch_max_wait_ms: int = option(
        "fetch.max.wait.ms",
        500,
        INT,
        at_least(0),
        "How long a broker may wait for fetch.min.bytes.",
    )
    fetch_min_bytes: int = option(
        "fetch.min.bytes", 1, INT, at_least(0), "A broker waits until it has this many bytes."
    )
    client_rack: str = option(
        "client.rack",
        "",
        STRING,
        anything,
        "Where the client runs. Leaders send it to an in-sync replica whose broker.rack is the "
        "same, if their replica.selector.class says so (KIP-392).",
    )
    metadata_max_age_ms: int = option(
        "metadata.max.age.ms",
        300_000,
        LONG,
        between(0, INT64_MAX),
        "How long to read from a follower before the leader is asked again.",
    )
    check_crcs: bool = option(
        "check.crcs", True, BOOLEAN, anything, "Verify the checksum of every record batch."
    )

    # Writing
    acks: int = option(
        "acks", -1, ACKS, anything, "Who must have stored records: all in-sync replicas, or 1."
    )
    max_request_bytes: int = option(
        "max.request.size", 4 * MIB, INT, at_least(1), "Bytes of batches in one Produce request."
    )
    buffer_memory_bytes: int = option(
        "buffer.memory",
        32 * MIB,
        LONG,
        between(1, INT64_MAX),
        "Bytes of batches that may wait; a producer then waits for responses.",
    )
    in_flight_max: int = option(
        "max.in.flight.requests.per.connection",
        5,
        INT,
        between(1, 5),
        "Produce requests without a response, for each broker.",
    )

    # Not a setting of Kafka's: a longer response is refused as malformed
    frame_bytes_max: int = 512 * MIB

    def __post_init__(self) -> None:
        parse_addresses(self.bootstrap_servers)
        if (wrong := _is_supported("security.protocol", self.security_protocol)) is not None:
            raise InvalidSetting("security.protocol", wrong)

    @property
    def addresses(self) -> tuple[Address, ...]:
        return parse_addresses(self.bootstrap_servers)

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Settings under Kafka's names; InvalidSetting for a name or value not understood."""
        if BOOTSTRAP_SERVERS not in properties:
            raise InvalidSetting(BOOTSTRAP_SERVERS, f"{BOOTSTRAP_SERVERS} is missing")
        return cls(**dict(_parse(name, text) for name, text in properties.items()))


_FIELDS = {
    known.metadata["option"].name: known for known in fields(ClientSettings) if known.metadata
}
CLIENT_OPTIONS: dict[str, Option[Any]] = {
    name: known.metadata["option"] for name, known in _FIELDS.items()
}
_NOT_YET = ("ssl.", "sasl.")


def _parse(name: str, text: str) -> tuple[str, Any]:
    """The attribute and its value."""
    if name.startswith(_NOT_YET):
        raise _unusable(name, "TLS and SASL are not supported yet")
    if name not in CLIENT_OPTIONS:
        raise _unusable(name, "this client does not know the setting; remove it")
    try:
        return _FIELDS[name].name, CLIENT_OPTIONS[name].parse(text)
    except InvalidOption as error:
        raise InvalidSetting(name, str(error)) from None
