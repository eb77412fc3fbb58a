"""Applies the dynamic connection limits: settings, quotas of addresses, overrides."""

from __future__ import annotations

from ottla.base.scheduling.tasks import OwnedTasks
from ottla.broker.host_addresses import HostAddresses
from ottla.broker.network_settings import limits, limits_of_listener
from ottla.handlers.quotas.client_quotas import ClientQuotas
from ottla.metadata.current_config import CurrentConfig
from ottla.network.network import Network


class ConnectionLimiter:
    def __init__(
        self, network: Network, current: CurrentConfig, quotas: ClientQuotas, tasks: OwnedTasks
    ) -> None:
        self._network = network
        self._current = current
        self._quotas = quotas
        self._addresses = HostAddresses(tasks, self.apply)

    def apply(self) -> None:
        """Called at the start, and after each change of settings or quotas."""
        self._network.quota.limits = limits(
            self._current.broker, self._quotas.addresses, self._addresses
        )
        for name, listener in self._network.listeners.items():
            listener.quota.limits = limits_of_listener(name, self._current.layers)
