"""Keys of a Kafka broker's properties file that Ottla does not support.

WITHOUT_MEANING  configure parts that do not exist here (a KRaft quorum, thread pools, JVM metrics,
unsupported group types). They are accepted and listed in one notice.
REMOVED          were removed from Kafka; rejected with the name of the replacement.
REFUSED          protect data or enable a feature that does not exist here. Starting without them
would be unsafe, so they are rejected.

A name ending in "." matches all keys with that prefix.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WITHOUT_MEANING = (
    "process.roles",
    "controller.",
    "metadata.",
    "zookeeper.max.in.flight.requests",
    "zookeeper.sync.time.ms",
    "broker.id.generation.enable",
    "reserved.broker.max.id",
    "control.plane.listener.name",
    "early.start.listeners",
    "inter.broker.protocol.version",
    "log.message.format.version",
    "log.message.downconversion.enable",
    "log.message.timestamp.difference.max.ms",
    "server.max.startup.time.ms",
    "leader.imbalance.per.broker.percentage",
    "controlled.shutdown.max.retries",
    "controlled.shutdown.retry.backoff.ms",
    "num.replica.alter.log.dirs.threads",
    "fetch.purgatory.purge.interval.requests",
    "producer.purgatory.purge.interval.requests",
    "delete.records.purgatory.purge.interval.requests",
    "share.fetch.purgatory.purge.interval.requests",
    "offsets.load.buffer.size",
    "offsets.commit.required.acks",
    "transaction.state.log.load.buffer.size",
    "group.coordinator.",
    "group.share.",
    "group.streams.",
    "share.coordinator.",
    "metric.reporters",
    "metrics.",
    "auto.include.jmx.reporter",
    "kafka.metrics.",
    "kafka.logs.dir",
    "log.initial.task.delay.ms",
    "password.encoder.",
)
REMOVED: Mapping[str, str] = MappingProxyType(
    {
        "host.name": "listeners",
        "port": "listeners",
        "advertised.host.name": "advertised.listeners",
        "advertised.port": "advertised.listeners",
        "quota.producer.default": "a client quota (kafka-configs --entity-type clients)",
        "quota.consumer.default": "a client quota (kafka-configs --entity-type clients)",
    }
)
# Accepted if the value disables the feature.
HARMLESS_VALUES: Mapping[str, str] = MappingProxyType(
    {
        "authorizer.class.name": "",
        "allow.everyone.if.no.acl.found": "true",
        "remote.log.storage.system.enable": "false",
        "transaction.two.phase.commit.enable": "false",
        "unstable.api.versions.enable": "false",
        "unstable.feature.versions.enable": "false",
        "zookeeper.metadata.migration.enable": "false",
        "zookeeper.set.acl": "false",
        "zookeeper.ssl.client.enable": "false",
        "config.providers": "",
        "cordoned.log.dirs": "",
    }
)
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "ssl.": "TLS",
        "zookeeper.ssl.": "TLS to ZooKeeper",
        "zookeeper.clientCnxnSocket": "TLS to ZooKeeper",
        "zookeeper.set.acl": "access control in ZooKeeper",
        "zookeeper.metadata.migration.enable": "migration to KRaft",
        "sasl.": "SASL",
        "listener.name.": "settings of a single listener, but for its limits",
        "security.providers": "TLS",
        "principal.builder.class": "authorisation",
        "authorizer.class.name": "authorisation",
        "super.users": "authorisation",
        "allow.everyone.if.no.acl.found": "authorisation",
        "connections.max.reauth.ms": "SASL",
        "connection.failed.authentication.delay.ms": "SASL",
        "delegation.token.": "delegation tokens",
        "create.topic.policy.class.name": "policies in Java classes",
        "alter.config.policy.class.name": "policies in Java classes",
        "client.quota.callback.class": "quotas in Java classes",
        "config.providers": "values from other places",
        "remote.": "tiered storage",
        "follower.fetch.last.tiered.offset.enable": "tiered storage",
        "transaction.two.phase.commit.enable": "two-phase commit",
        "unstable.": "unstable versions",
        "cordoned.log.dirs": "cordoned directories",
    }
)


def is_without_meaning(name: str, value: str) -> bool:
    if HARMLESS_VALUES.get(name) == value.strip().lower():
        return True
    return refused_for(name) is None and any(_matches(each, name) for each in WITHOUT_MEANING)


def is_kafkas(name: str) -> bool:
    """Whether Kafka has such a setting, although there is none here. Removed ones are not Kafka's
    any more."""
    return refused_for(name) is not None or any(_matches(each, name) for each in WITHOUT_MEANING)


def refused_for(name: str) -> str | None:
    """The unsupported feature that this key belongs to; None for other keys."""
    return next((what for each, what in REFUSED.items() if _matches(each, name)), None)


def _matches(pattern: str, name: str) -> bool:
    return name.startswith(pattern) if pattern.endswith(".") else name == pattern
