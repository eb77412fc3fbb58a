"""Features whose levels the cluster agrees on: which there are, and which levels we can do.

Only what works is named here. `metadata.version` has no meaning of its own for our records; tools
expect one, so it stands at the level of the Kafka version whose protocol we speak.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from ottla.metadata.records import FeatureLevelSet, VersionRange

METADATA_VERSION = "metadata.version"
TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION = "group.version"
ELIGIBLE_LEADER_REPLICAS = "eligible.leader.replicas.version"

SUPPORTED = MappingProxyType(
    {
        METADATA_VERSION: VersionRange(7, 30),
        TRANSACTION_VERSION: VersionRange(0, 2),
        GROUP_VERSION: VersionRange(0, 1),
        ELIGIBLE_LEADER_REPLICAS: VersionRange(1, 1),  # they are never switched off here
    }
)


def new_cluster_levels() -> Iterator[FeatureLevelSet]:
    """What a new cluster begins with: the newest of everything."""
    for name, versions in SUPPORTED.items():
        yield FeatureLevelSet(name, versions.greatest)
