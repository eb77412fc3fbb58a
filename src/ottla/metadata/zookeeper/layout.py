"""Where things are in ZooKeeper, below the chroot of `zookeeper.connect`.

The first four have the names and the JSON that Apache Kafka used. The rest is ours:

    /metadata/log/<offset>            one batch of records, named by its first offset
    /metadata/parts/<offset>-<n>-<nonce>   the records of a batch too large for one znode
    /metadata/snapshot                which snapshot counts
    /metadata/snapshots/<offset>-<nonce>/<n>   its parts
"""

from __future__ import annotations

BROKER_IDS = "/brokers/ids"
CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
LOG = "/metadata/log"
PARTS = "/metadata/parts"
SNAPSHOT = "/metadata/snapshot"
SNAPSHOTS = "/metadata/snapshots"

FOLDERS = (BROKER_IDS, "/cluster", LOG, PARTS, SNAPSHOTS)

# ZooKeeper refuses requests above 1 MiB (jute.maxbuffer), the path and other fields included.
ZNODE_BYTES_MAX = 512 * 1024


def broker_path(broker_id: int) -> str:
    return f"{BROKER_IDS}/{broker_id}"


def batch_path(offset: int) -> str:
    return f"{LOG}/{offset:020d}"


def log_location(address: str) -> str:
    """The log below the chroot of `address`, for messages."""
    return f"zookeeper://{address}{LOG}"


def batch_offset(name: str) -> int | None:
    """The offset that a name below LOG contains; None for a name that Ottla does not write."""
    return int(name) if len(name) == 20 and name.isascii() and name.isdigit() else None


def part_path(offset: int, number: int, nonce: str) -> str:
    return f"{PARTS}/{offset:020d}-{number}-{nonce}"


def part_offset(name: str) -> int | None:
    return batch_offset(name[:20]) if name[20:21] == "-" else None


def snapshot_folder(offset: int, nonce: str) -> str:
    return f"{SNAPSHOTS}/{offset:020d}-{nonce}"


def snapshot_part_path(folder: str, number: int) -> str:
    return f"{folder}/{number}"
