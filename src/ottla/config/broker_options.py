"""All settings of a broker, under Kafka's names and, unless it says otherwise, with its defaults.

Where a default differs from Kafka's, the setting's explanation says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

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


@dataclass(frozen=True)
class BrokerConfig(
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
    """Read from text by `load.py`. Bases are listed last part first: fields come out in order."""

    @property
    def log_directories(self) -> tuple[str, ...]:
        return self.log_dirs or self.log_dir


BROKER_OPTIONS = MappingProxyType(options_of(BrokerConfig))

# Only what a single broker can give: there is nobody to hold a second replica, nor to wait for.
EMBEDDED_DEFAULTS = MappingProxyType(
    {
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
)
