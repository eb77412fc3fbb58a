"""Features with cluster-wide levels, and the supported levels.

Only implemented features are listed. `metadata.version` has no effect on our records; tools expect
it, so it has the level of the Kafka version whose protocol is implemented.
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
        ELIGIBLE_LEADER_REPLICAS: VersionRange(1, 1),  # cannot be disabled
    }
)


def new_cluster_levels() -> Iterator[FeatureLevelSet]:
    """The levels of a new cluster: the newest of each feature."""
    for name, versions in SUPPORTED.items():
        yield FeatureLevelSet(name, versions.greatest)
