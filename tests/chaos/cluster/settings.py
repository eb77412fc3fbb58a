"""The settings of the brokers under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SESSION_S = 6.0
LAG_S = 5.0


def broker_settings(replication: int) -> Mapping[str, Any]:
    """Of every broker. Logs are not compacted: each replica would do it in its own time, and could
    not be compared byte by byte."""
    min_in_sync = max(1, replication - 1)
    return {
        "default.replication.factor": replication,
        "min.insync.replicas": min_in_sync,
        "unclean.leader.election.enable": False,
        "offsets.topic.replication.factor": replication,
        "offsets.topic.num.partitions": 5,
        "transaction.state.log.replication.factor": replication,
        "transaction.state.log.min.isr": min_in_sync,
        "transaction.state.log.num.partitions": 5,
        "auto.create.topics.enable": False,
        "log.cleaner.enable": False,
        "log.segment.bytes": 1 << 20,
        "replica.lag.time.max.ms": int(1000 * LAG_S),
        "zookeeper.session.timeout.ms": int(1000 * SESSION_S),
        "listener.security.protocol.map": "CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT",
        "inter.broker.listener.name": "BROKERS",
    }
