"""Limits and timeouts of listeners and connections, as plain values.

The broker fills them from its configuration (Kafka's name in the comment, if it has one).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ottla.network.limits import ConnectionLimits

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Limits of one connection."""

    frame_bytes_max: int = 100 * MIB  # socket.request.max.bytes
    requests_in_flight_max: int = 128  # begun and without a response
    in_flight_bytes_max: int = 16 * MIB  # their frames; one is always allowed
    unsent_bytes_max: int = 1 * MIB  # beyond this no further request begins
    idle_ms: int = 600_000  # connections.max.idle.ms; negative: no limit, as in Kafka
    # A frame must arrive within this time plus the time of its bytes at the minimum rate:
    frame_ms: int = 30_000
    frame_bytes_per_s_min: int = 1 * KIB
    # Consumers may leave a response unread while they process the one before (up to
    # max.poll.interval.ms); meanwhile a connection holds at most `unsent_bytes_max`.
    unread_ms: int = 600_000


@dataclass(frozen=True, slots=True)
class ListenerSettings:
    name: str
    host: str = ""  # "": all addresses
    port: int = 0  # 0: any free port
    backlog: int = 50  # socket.listen.backlog.size
    send_buffer_bytes: int = -1  # socket.send.buffer.bytes; -1: the default of the system
    receive_buffer_bytes: int = -1  # socket.receive.buffer.bytes
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    # The inter-broker listener: the limits of the broker do not delay its connections.
    is_exempt: bool = False
    connection: ConnectionSettings = field(default_factory=ConnectionSettings)
    # TLS context and handshake timeout, and SASL mechanisms, belong here.


@dataclass(frozen=True, slots=True)
class EvictionRules:
    """When connections are closed so that others get memory; see `request_eviction.py` for the
    grades."""

    bytes_per_s_min: int = 64 * KIB  # ottla.queued.request.bytes.per.second.min
    address_share: float = 0.5  # ottla.queued.percent.per.ip.max
    # How long another connection must have waited before those of a grade are closed:
    slow_after_s: float = 1.0
    stalled_after_s: float = 2.0
    long_after_s: float = 5.0
    paused_after_s: float = 30.0


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """Limits that all listeners of a broker share."""

    listeners: tuple[ListenerSettings, ...]
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    request_bytes_max: int = 256 * MIB  # queued.max.request.bytes
    eviction: EvictionRules = field(default_factory=EvictionRules)
    tick_ms: int = 1000  # the precision of the times above
