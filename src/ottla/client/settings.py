"""What a client is told: addresses, patience, sizes. Under Kafka's names, with Kafka's defaults.

Promises  picklable; a name that is not understood is refused, never ignored.
Leaves    who reads which setting to the other files of this folder.

Three defaults are not Kafka's, because batches are handed on as bytes, which larger pieces make
faster as long as they stay in reach of the processor's cache: `max.partition.fetch.bytes` is 8 MiB
(not 1), `fetch.max.bytes` 16 MiB (not 50), `max.request.size` 4 MiB (not 1).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, NamedTuple, Self

from ottla.client.errors import InvalidSetting

KIB = 1024
MIB = 1024 * KIB
INT32_MAX = 2**31 - 1

READ_UNCOMMITTED, READ_COMMITTED = "read_uncommitted", "read_committed"
PLAINTEXT = "PLAINTEXT"
_ADDRESS = re.compile(r"(?:[A-Za-z_]+://)?(?:\[([0-9A-Fa-f:.%\w]+)\]|([\w.%-]+)):(\d{1,5})")


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(text: str) -> tuple[Address, ...]:
    """`host:port` parted by commas; IPv6 in brackets."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _ADDRESS.fullmatch(part)
        if match is None or not 0 < int(match[3]) < 65536:
            raise InvalidSetting("bootstrap.servers", text, f"{part!r} is not host:port")
        found.append(Address(match[1] or match[2], int(match[3])))
    if not found:
        raise InvalidSetting("bootstrap.servers", text, "it names no address")
    return tuple(found)


def _number(low: int, high: int = INT32_MAX) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError(f"it must lie between {low} and {high}")
        return number

    return parse


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"it must be {' or '.join(choices)}")
        return text

    return parse


def _boolean(text: str) -> bool:
    return _one_of("true", "false")(text.lower()) == "true"


def _acks(text: str) -> int:
    """0 is refused: what nobody answers for can be neither counted nor sent again."""
    return {"all": -1, "-1": -1, "1": 1}[_one_of("all", "-1", "1")(text)]


def _security_protocol(text: str) -> str:
    if text != PLAINTEXT:
        raise ValueError(f"only {PLAINTEXT} is supported so far")
    return text


def _setting(name: str, default: Any, parse: Callable[[str], Any]) -> Any:
    return field(default=default, metadata={"name": name, "parse": parse})


@dataclass(frozen=True)
class ClientSettings:
    bootstrap_servers: str = field(metadata={"name": "bootstrap.servers", "parse": str})
    client_id: str = _setting("client.id", "ottla", str)
    security_protocol: str = _setting("security.protocol", PLAINTEXT, _security_protocol)

    # Patience
    request_timeout_ms: int = _setting("request.timeout.ms", 30_000, _number(1))
    default_api_timeout_ms: int = _setting("default.api.timeout.ms", 60_000, _number(1))
    delivery_timeout_ms: int = _setting("delivery.timeout.ms", 120_000, _number(1))
    connection_timeout_ms: int = _setting("socket.connection.setup.timeout.ms", 10_000, _number(1))
    retry_backoff_ms: int = _setting("retry.backoff.ms", 100, _number(0))
    retry_backoff_max_ms: int = _setting("retry.backoff.max.ms", 1_000, _number(0))

    # Sockets; -1 leaves the size to the system, which grows it as needed
    send_buffer_bytes: int = _setting("send.buffer.bytes", -1, _number(-1))
    receive_buffer_bytes: int = _setting("receive.buffer.bytes", -1, _number(-1))

    # Reading
    isolation_level: str = _setting(
        "isolation.level", READ_UNCOMMITTED, _one_of(READ_UNCOMMITTED, READ_COMMITTED)
    )
    fetch_max_bytes: int = _setting("fetch.max.bytes", 16 * MIB, _number(1))
    max_partition_fetch_bytes: int = _setting("max.partition.fetch.bytes", 8 * MIB, _number(1))
    fetch_max_wait_ms: int = _setting("fetch.max.wait.ms", 500, _number(0))
    fetch_min_bytes: int = _setting("fetch.min.bytes", 1, _number(0))
    check_crcs: bool = _setting("check.crcs", True, _boolean)

    # Writing
    acks: int = _setting("acks", -1, _acks)
    max_request_bytes: int = _setting("max.request.size", 4 * MIB, _number(1))
    buffer_memory_bytes: int = _setting("buffer.memory", 32 * MIB, _number(1, 2**63 - 1))
    in_flight_max: int = _setting("max.in.flight.requests.per.connection", 5, _number(1, 5))

    # Not a setting of Kafka's: a longer answer is taken for garbage
    frame_bytes_max: int = 512 * MIB

    def __post_init__(self) -> None:
        parse_addresses(self.bootstrap_servers)
        try:
            _security_protocol(self.security_protocol)
        except ValueError as error:
            raise InvalidSetting("security.protocol", self.security_protocol, error) from None

    @property
    def addresses(self) -> tuple[Address, ...]:
        return parse_addresses(self.bootstrap_servers)

    @classmethod
    def names(cls) -> frozenset[str]:
        """Kafka's names that are understood."""
        return frozenset(_FIELDS)

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Settings under Kafka's names; InvalidSetting for a name or value not understood."""
        values = {_field_of(name, text): text for name, text in properties.items()}
        if "bootstrap_servers" not in values:
            raise InvalidSetting("bootstrap.servers", None, "it is missing")
        return cls(**{name: _parse(_BY_FIELD[name], text) for name, text in values.items()})


_FIELDS = {known.metadata["name"]: known for known in fields(ClientSettings) if known.metadata}
_BY_FIELD = {known.name: name for name, known in _FIELDS.items()}
_NOT_YET = ("ssl.", "sasl.")


def _field_of(name: str, text: str) -> str:
    if name in _FIELDS:
        return _FIELDS[name].name
    if name.startswith(_NOT_YET):
        raise InvalidSetting(name, text, "TLS and SASL are not supported yet")
    raise InvalidSetting(name, text, "this client does not know it; leave it out")


def _parse(name: str, text: str) -> Any:
    try:
        return _FIELDS[name].metadata["parse"](text.strip())
    except ValueError as error:
        raise InvalidSetting(name, text, error) from None


def defaults() -> dict[str, Any]:
    """Kafka's name and our default of every setting that has one, for documentation."""
    return {name: known.default for name, known in _FIELDS.items() if known.default is not MISSING}
