"""The settings of the network layer, derived from the broker's configuration."""

from __future__ import annotations

import logging
import resource
from collections.abc import Callable

from ottla.base.files.disk import default_open_files_max
from ottla.base.log_messages.log_text import shown
from ottla.base.rates import windows_of
from ottla.config.broker_checks import parse_ip_overrides
from ottla.config.broker_options import BrokerConfig
from ottla.config.layers import BrokerLayers
from ottla.config.listener_options import LIMITS, listener_limits
from ottla.config.listeners import Listeners
from ottla.config.options import InvalidOption
from ottla.handlers.quotas.client_quotas import quota_windows
from ottla.handlers.quotas.quota_limits import AddressLimits
from ottla.network.addresses import normal_address
from ottla.network.limits import UNLIMITED, ConnectionLimits
from ottla.network.settings import (
    ConnectionSettings,
    EvictionRules,
    ListenerSettings,
    NetworkSettings,
)

log = logging.getLogger(__name__)

REQUEST_BYTES_MAX = 256 * 1024 * 1024  # Kafka's default is no limit
# The event loop both accepts and serves: with a short backlog, a burst of clients would wait a
# second for the retransmitted SYN.
BACKLOG_MIN = 1024
# Descriptors for everything but log files and connections: pipes, checkpoints, directories.
SPARE_DESCRIPTORS = 64
CONNECTIONS_MIN = 8


def network_settings(
    config: BrokerConfig, listeners: Listeners, layers: BrokerLayers
) -> NetworkSettings:
    connection = ConnectionSettings(
        frame_bytes_max=config.socket_request_max_bytes,
        idle_ms=config.connections_max_idle_ms,
    )
    bound = tuple(
        ListenerSettings(
            name=each.name,
            host=each.host,
            port=each.port,
            backlog=max(config.socket_listen_backlog_size, BACKLOG_MIN),
            send_buffer_bytes=config.socket_send_buffer_bytes,
            receive_buffer_bytes=config.socket_receive_buffer_bytes,
            limits=limits_of_listener(each.name, layers),
            connection=connection,
            is_exempt=len(listeners.bound) > 1 and each.name == listeners.inter_broker_name,
        )
        for each in listeners.bound
    )
    asked = config.queued_max_request_bytes
    eviction = EvictionRules(
        bytes_per_s_min=config.ottla_queued_request_bytes_per_second_min,
        address_share=config.ottla_queued_percent_per_ip_max / 100,
    )
    request_bytes_max = asked if asked > 0 else REQUEST_BYTES_MAX
    return NetworkSettings(bound, limits(config), request_bytes_max, eviction)


def limits(
    config: BrokerConfig,
    quotas: AddressLimits | None = None,
    address_of: Callable[[str], str] = normal_address,
) -> ConnectionLimits:
    """Limits from the configuration and from the quotas of addresses; both change at run time."""
    addresses = quotas or AddressLimits()
    return ConnectionLimits(
        min(config.max_connections, connections_with_descriptors()),
        config.max_connections_per_ip,
        stored_overrides(config.max_connections_per_ip_overrides, address_of),
        config.max_connection_creation_rate,
        UNLIMITED if addresses.default is None else addresses.default,
        addresses.by_address,
        quota_windows(config),
    )


def limits_of_listener(name: str, layers: BrokerLayers) -> ConnectionLimits:
    """The limits of one listener: its own settings, or else the broker's."""
    texts = layers.effective()
    found = listener_limits(name, texts)
    connections_max, creations_per_s_max = (found.get(each, UNLIMITED) for each in LIMITS)
    # Not dynamic, so they were validated at the start.
    count, size_s = (int(texts[f"quota.window.{each}"]) for each in ("num", "size.seconds"))
    return ConnectionLimits(
        connections_max,
        creations_per_s_max=creations_per_s_max,
        windows=windows_of(count, size_s),
    )


def stored_overrides(text: str, address_of: Callable[[str], str]) -> dict[str, int]:
    """The overrides that can be parsed: an invalid stored value must not prevent a start."""
    overrides = {}
    for part in text.split(","):
        try:
            for host, limit in parse_ip_overrides(part).items():
                overrides[address_of(host)] = limit
        except InvalidOption as error:
            log.warning("ignored: %s", shown(str(error)))
    return overrides


def connections_with_descriptors() -> int:
    """The number of connections that leaves enough descriptors for files: otherwise very many
    clients would prevent writes to disk."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return UNLIMITED
    return max(CONNECTIONS_MIN, limit - default_open_files_max() - SPARE_DESCRIPTORS)
