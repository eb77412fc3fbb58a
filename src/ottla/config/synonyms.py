"""The broker settings that a topic or group setting falls back to, in order.

A coarser broker setting can stand for a finer one (`log.retention.hours` for `log.retention.ms`),
so a chain has one or more names, each with the factor that converts its value to the topic's unit.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from ottla.config.listener_options import base_name
from ottla.config.options import HOUR_MS, MINUTE_MS


class Synonym(NamedTuple):
    name: str
    factor: int = 1  # value times factor is the value of the topic setting


_RETENTION = (
    Synonym("log.retention.ms"),
    Synonym("log.retention.minutes", MINUTE_MS),
    Synonym("log.retention.hours", HOUR_MS),
)
_ROLL = (Synonym("log.roll.ms"), Synonym("log.roll.hours", HOUR_MS))
_JITTER = (Synonym("log.roll.jitter.ms"), Synonym("log.roll.jitter.hours", HOUR_MS))
_FLUSH = (Synonym("log.flush.interval.ms"), Synonym("log.flush.scheduler.interval.ms"))

TOPIC_SYNONYMS = MappingProxyType(
    {
        "segment.bytes": (Synonym("log.segment.bytes"),),
        "segment.ms": _ROLL,
        "segment.jitter.ms": _JITTER,
        "segment.index.bytes": (Synonym("log.index.size.max.bytes"),),
        "flush.messages": (Synonym("log.flush.interval.messages"),),
        "flush.ms": _FLUSH,
        "retention.bytes": (Synonym("log.retention.bytes"),),
        "retention.ms": _RETENTION,
        "max.message.bytes": (Synonym("message.max.bytes"),),
        "index.interval.bytes": (Synonym("log.index.interval.bytes"),),
        "delete.retention.ms": (Synonym("log.cleaner.delete.retention.ms"),),
        "min.compaction.lag.ms": (Synonym("log.cleaner.min.compaction.lag.ms"),),
        "max.compaction.lag.ms": (Synonym("log.cleaner.max.compaction.lag.ms"),),
        "file.delete.delay.ms": (Synonym("log.segment.delete.delay.ms"),),
        "min.cleanable.dirty.ratio": (Synonym("log.cleaner.min.cleanable.ratio"),),
        "cleanup.policy": (Synonym("log.cleanup.policy"),),
        "unclean.leader.election.enable": (Synonym("unclean.leader.election.enable"),),
        "min.insync.replicas": (Synonym("min.insync.replicas"),),
        "compression.type": (Synonym("compression.type"),),
        "compression.gzip.level": (Synonym("compression.gzip.level"),),
        "compression.lz4.level": (Synonym("compression.lz4.level"),),
        "compression.zstd.level": (Synonym("compression.zstd.level"),),
        "preallocate": (Synonym("log.preallocate"),),
        "message.timestamp.type": (Synonym("log.message.timestamp.type"),),
        "message.timestamp.before.max.ms": (Synonym("log.message.timestamp.before.max.ms"),),
        "message.timestamp.after.max.ms": (Synonym("log.message.timestamp.after.max.ms"),),
        "local.retention.ms": (Synonym("log.local.retention.ms"),),
        "local.retention.bytes": (Synonym("log.local.retention.bytes"),),
    }
)

GROUP_SYNONYMS = MappingProxyType(
    {
        "consumer.session.timeout.ms": "group.consumer.session.timeout.ms",
        "consumer.heartbeat.interval.ms": "group.consumer.heartbeat.interval.ms",
        "consumer.assignment.interval.ms": "group.consumer.assignment.interval.ms",
    }
)

_BROKER_CHAINS = {
    synonym.name: tuple(each.name for each in chain)
    for chain in (_RETENTION, _ROLL, _JITTER, _FLUSH)
    for synonym in chain
}


def broker_chain(name: str) -> tuple[str, ...]:
    """All names under which a broker setting can be given, the finest first."""
    base = base_name(name)
    return (name, base) if base != name else _BROKER_CHAINS.get(name, (name,))
