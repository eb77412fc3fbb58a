"""Replication settings for a cluster that is started with a known number of brokers.

Kafka's defaults are three replicas for its own topics, which a smaller cluster cannot have, and one
replica for all others, which does not survive the loss of a broker.
"""

from __future__ import annotations

REPLICAS_MAX = 3


def replicated_defaults(brokers: int) -> dict[str, str]:
    """Three replicas of every topic, or one for each broker if there are fewer; one of three may
    fail."""
    replicas = min(REPLICAS_MAX, brokers)
    in_sync = max(1, replicas - 1)
    return {
        "default.replication.factor": str(replicas),
        "min.insync.replicas": str(in_sync),
        "offsets.topic.replication.factor": str(replicas),
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str(in_sync),
    }
