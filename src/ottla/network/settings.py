"""The bounds and times of listeners and connections, as plain values.

The broker fills them from its configuration (Kafka's name in the comment, where it has one).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ottla.network.limits import ConnectionLimits

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """What one connection may take, in memory and in time."""

    frame_bytes_max: int = 100 * MIB  # socket.request.max.bytes
    requests_in_flight_max: int = 128  # begun and not answered
    in_flight_bytes_max: int = 16 * MIB  # their frames; one is always allowed
    unsent_bytes_max: int = 1 * MIB  # above this no further request begins
    idle_ms: int = 600_000  # connections.max.idle.ms; a negative one is no limit, as in Kafka
    # A frame must arrive within this time and what its bytes need at the slowest rate we accept:
    frame_ms: int = 30_000
    frame_bytes_per_s_min: int = 1 * KIB
    # Consumers are known to leave an answer unread while they process the one before (up to
    # max.poll.interval.ms); meanwhile a connection holds no more than `unsent_bytes_max`.
    unread_ms: int = 600_000


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    name: str
    host: str = ""  # "" is every address of the machine
    port: int = 0  # 0 lets the machine choose
    backlog: int = 50  # socket.listen.backlog.size
    send_buffer_bytes: int = -1  # socket.send.buffer.bytes; -1 leaves it to the machine
    receive_buffer_bytes: int = -1  # socket.receive.buffer.bytes
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    # The listener between brokers: the broker's own limits neither count nor stop its connections.
    is_exempt: bool = False
    connection: ConnectionSettings = field(default_factory=ConnectionSettings)
    # Here TLS will have its context and handshake time, and SASL its mechanisms.


@dataclass(frozen=True, slots=True)
class EvictionRules:
    """Who is closed, and when, so that others get memory; the grades are those of `eviction.py`."""

    bytes_per_s_min: int = 64 * KIB  # ottla.queued.request.bytes.per.second.min
    address_share: float = 0.5  # ottla.queued.percent.per.ip.max
    # How long others must have waited before connections of a grade are closed:
    slow_after_s: float = 1.0
    stuck_after_s: float = 2.0
    old_after_s: float = 5.0
    paused_after_s: float = 30.0


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """What all listeners of a broker share."""

    listeners: tuple[ListenerSettings, ...]
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    request_bytes_max: int = 256 * MIB  # queued.max.request.bytes
    eviction: EvictionRules = field(default_factory=EvictionRules)
    tick_ms: int = 1000  # how exactly the times above are kept
