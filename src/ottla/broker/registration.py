"""The registration of a broker with the controller: id, listeners, features, directories."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from ottla.base.uuids import random_uuid
from ottla.config.listeners import ListenerEndpoint
from ottla.controller.registration import PROTOCOLS
from ottla.metadata.features import SUPPORTED
from ottla.protocol.messages.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
)
from ottla.protocol.messages.broker_registration_request import (
    Listener as RegisteredListener,
)
from ottla.storage.directories.log_manager import LogManager


def registration(
    broker_id: int,
    cluster_id: str,
    rack: str | None,
    listeners: Iterable[ListenerEndpoint],
    logs: LogManager,
) -> BrokerRegistrationRequest:
    shutdowns = [directory.last_shutdown for directory in logs.online]
    epochs = {-1 if each is None else each.broker_epoch for each in shutdowns}
    return BrokerRegistrationRequest(
        broker_id,
        cluster_id,
        random_uuid(),
        [
            RegisteredListener(each.name, each.host, each.port, PROTOCOLS.index(each.protocol))
            for each in listeners
        ],
        [Feature(name, *versions) for name, versions in SUPPORTED.items()],
        rack,
        log_dirs=[each.directory_id or random_uuid() for each in logs.online],
        # Only if all directories were closed cleanly by the same run of the broker.
        previous_broker_epoch=epochs.pop() if len(epochs) == 1 else -1,
    )


def host_name() -> str:
    """The advertised host of listeners that are bound to all addresses."""
    return socket.gethostname()
