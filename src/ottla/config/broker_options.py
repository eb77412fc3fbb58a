"""All broker settings, under Kafka's names and, unless documented otherwise, with its defaults.

Documentation of a setting mentions if its default differs from Kafka's.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ottla.config.cluster_options import ClusterOptions
from ottla.config.coordinator_options import (
    ConsumerGroupOptions,
    GroupOptions,
    OffsetOptions,
    TransactionOptions,
)
from ottla.config.log_options import (
    CleanerOptions,
    LogDirectoryOptions,
    MessageOptions,
    RetentionOptions,
    SegmentOptions,
)
from ottla.config.network_options import (
    ConnectionOptions,
    IdentityOptions,
    ListenerOptions,
    RequestOptions,
)
from ottla.config.options import options_of
from ottla.config.quota_options import QuotaOptions
from ottla.config.replication_options import (
    ReplicaFetchOptions,
    ReplicaOptions,
    ReplicationQuotaOptions,
    TopicCreationOptions,
)


# Compiling methods for 200 fields, and methods that nothing uses, would take some hundredths of
# the time in which a broker starts. The bases have no objects of their own.
@dataclass(frozen=True, init=False, repr=False, eq=False)
class BrokerConfig(
    ClusterOptions,
    QuotaOptions,
    TransactionOptions,
    OffsetOptions,
    ConsumerGroupOptions,
    GroupOptions,
    ReplicationQuotaOptions,
    ReplicaFetchOptions,
    ReplicaOptions,
    TopicCreationOptions,
    MessageOptions,
    CleanerOptions,
    RetentionOptions,
    SegmentOptions,
    LogDirectoryOptions,
    RequestOptions,
    ConnectionOptions,
    ListenerOptions,
    IdentityOptions,
):
    """Parsed by `load.py`. Bases are listed in reverse, so that fields are in declaration order."""

    def __init__(self, **values: Any) -> None:
        """`values` by attribute; other settings have their defaults, which the class has."""
        if unknown := values.keys() - self.__dataclass_fields__.keys():
            raise TypeError(f"no such settings: {', '.join(sorted(unknown))}")
        self.__dict__.update(values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BrokerConfig):
            return NotImplemented
        names = self.__dataclass_fields__
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @property
    def log_directories(self) -> tuple[str, ...]:
        return self.log_dirs or self.log_dir


BROKER_OPTIONS = MappingProxyType(options_of(BrokerConfig))

# For a broker without a cluster: there are no other brokers for replicas.
EMBEDDED_DEFAULTS = MappingProxyType(
    {
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
)
