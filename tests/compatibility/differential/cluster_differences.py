"""Where the answers of three brokers differ from those of three brokers of Apache Kafka on purpose.

As `differences.py`, for the scripts about a cluster.
"""

from __future__ import annotations

from tests.compatibility.differential.allowed import Allowed

from ottla.protocol.api_keys import ApiKey

CLUSTER_ALLOWED: tuple[Allowed, ...] = (
    Allowed(
        ApiKey.METADATA, "*, 3 stopped, *", "*replica_nodes|*error_code",
        "All versions name all replicas; in the first, of clients before 0.10, Kafka leaves out"
        " those whose broker has stopped, and says so with an error.",
        range(1),
    ),
    Allowed(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS, "changed: *", "topics*",
        "A reassignment that replaces one under way keeps all replicas that it names, and does not"
        " wait for those that it does not name; Kafka continues to add and remove those of the"
        " first.",
    ),
    Allowed(
        ApiKey.FETCH, "*", "*current_leader*|node_endpoints*",
        "A broker without a replica does not name the leader; clients ask for the metadata.",
        range(18, 19), "cluster_fetch_anywhere",
    ),
    Allowed(
        ApiKey.FETCH, "*", "*aborted_transactions",
        "Where a partition is led elsewhere the list is empty; Kafka sends null.",
        script="cluster_fetch_anywhere",
    ),
    Allowed(
        ApiKey.WRITE_TXN_MARKERS, "all, *", "*error_code",
        "A broker without a replica says that it does not lead the partition, Kafka that the"
        " partition is unknown. Coordinators look for the leader in both cases.",
    ),
)  # fmt: skip
