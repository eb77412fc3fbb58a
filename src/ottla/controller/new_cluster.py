"""The first records of a cluster: its id, its features, and cluster-wide settings."""

from __future__ import annotations

from ottla.config.layers import BrokerLayers
from ottla.controller.eligible_replicas import MIN_IN_SYNC
from ottla.metadata.features import new_cluster_levels
from ottla.metadata.records import ALL_BROKERS, ClusterNamed, ConfigChanged, Record


def decide_new_cluster(cluster_id: str, layers: BrokerLayers) -> tuple[Record, ...]:
    """`min.insync.replicas` becomes a cluster-wide setting: eligibility to lead depends on it,
    so it must not differ between the files of brokers."""
    min_in_sync = layers.effective()[MIN_IN_SYNC]
    return (
        ClusterNamed(cluster_id),
        *new_cluster_levels(),
        ConfigChanged(ALL_BROKERS, MIN_IN_SYNC, min_in_sync),
    )
