"""Distinguishes the first start of a cluster from lost metadata; assigns the cluster id, and lost
ids of directories.

An empty directory, and one written by Apache Kafka, have no metadata of Ottla: they start a new
cluster. A directory that Ottla has used (`.ottla`, `ottla.properties`), or that holds partitions of
an unknown cluster, had metadata: if it is missing, belongs to another cluster or ends earlier, the
broker does not start and changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ottla.base.files.filesystem import FileSystem
from ottla.base.uuids import random_uuid, uuid_to_text
from ottla.config.layers import BrokerLayers
from ottla.controller.new_cluster import decide_new_cluster
from ottla.metadata.continuity import KnownState
from ottla.metadata.entities import PartitionRegistration
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import MetadataLog
from ottla.metadata.zookeeper.session_file import SESSION_NAME
from ottla.storage.directories.directory_ownership import WrongDirectory
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.files.cluster_mark import ClusterMark
from ottla.storage.files.file_names import (
    CLUSTER_MARK_NAME,
    META_PROPERTIES_NAME,
    OTTLA_MARK_NAME,
    parse_directory_name,
)
from ottla.storage.files.meta_properties import (
    MetaProperties,
    read_meta_properties,
    write_meta_properties,
)

log = logging.getLogger(__name__)


class DirectoryHistory(NamedTuple):
    """What the log directories contain from earlier starts."""

    known: KnownState
    # of all directories of the broker, including those that are missing
    directory_ids: frozenset[bytes]
    present_ids: frozenset[bytes]


def read_history(directories: Iterable[LogDirectory]) -> DirectoryHistory:
    """Read the locked directories. WrongDirectory if they contradict each other; a directory
    that cannot be read is offline."""
    known = KnownState()
    directory_ids: set[bytes] = set()
    present_ids: set[bytes] = set()
    for directory in directories:
        try:
            mark = directory.ownership.read_mark()
            found = _known_to(directory, mark)
        except OSError as error:
            directory.health.failed("opening", error)
            continue
        present_ids |= _ids_of(directory, mark)
        directory_ids |= {*present_ids, *(() if mark is None else mark.directory_ids)}
        known = _latest(known, found)
    return DirectoryHistory(known, frozenset(directory_ids), frozenset(present_ids))


def _ids_of(directory: LogDirectory, mark: ClusterMark | None) -> set[bytes]:
    found = read_meta_properties(directory.files, f"{directory.path}/{META_PROPERTIES_NAME}")
    if found is not None and found.directory_id is not None:
        return {found.directory_id}
    return set() if mark is None else {mark.directory_id}


def _known_to(directory: LogDirectory, mark: ClusterMark | None) -> KnownState:
    files, path = directory.files, directory.path
    found = read_meta_properties(files, f"{path}/{META_PROPERTIES_NAME}")
    cluster_id = "" if found is None else found.cluster_id or ""
    if mark is not None:
        if cluster_id not in ("", mark.cluster_id):
            what = f"{META_PROPERTIES_NAME} and {CLUSTER_MARK_NAME} are of different clusters"
            raise WrongDirectory(f"{path}: {what}: {cluster_id} and {mark.cluster_id}")
        offset, epoch = mark.metadata_offset, mark.controller_epoch
        return KnownState(mark.cluster_id, offset, epoch, f"{path}/{CLUSTER_MARK_NAME}")
    if files.exists(
        f"{path}/{OTTLA_MARK_NAME}"
    ):  # written by an earlier version, or its mark is damaged
        return KnownState(cluster_id, 1, source=f"{path}/{OTTLA_MARK_NAME}")
    if not cluster_id and _has_partitions(files, path):
        return KnownState(offset=1, source=f"{path}, which holds partitions,")
    return KnownState(cluster_id, source=f"{path}/{META_PROPERTIES_NAME}")


def _has_partitions(files: FileSystem, path: str) -> bool:
    return any(
        parse_directory_name(name) is not None and files.is_directory(f"{path}/{name}")
        for name in files.list_directory(path)
    )


def _latest(one: KnownState, other: KnownState) -> KnownState:
    if one.cluster_id and other.cluster_id and one.cluster_id != other.cluster_id:
        what = f"{one.cluster_id} ({one.source}) and {other.cluster_id} ({other.source})"
        raise WrongDirectory(f"the log directories belong to different clusters: {what}")
    later = max(one, other, key=lambda each: (each.offset, bool(each.cluster_id)))
    return KnownState(
        one.cluster_id or other.cluster_id,
        max(one.offset, other.offset),
        max(one.controller_epoch, other.controller_epoch),
        later.source,
    )


def exclude_empty_directories(
    directories: Sequence[LogDirectory], image: Image, broker_id: int, past: DirectoryHistory
) -> None:
    """If a log directory is missing, an empty one is most likely a mount point whose disk is not
    mounted. It is not used while partitions have no log: their files may reappear. Replicas that
    other brokers lead, and that are not in sync, are copied again instead."""
    registered = image.broker(broker_id)
    expected = past.directory_ids.union(() if registered is None else registered.log_directories)
    # The session is stored before the metadata, which say whether a directory is missing, is known.
    empty = [each for each in directories if each.ownership.is_unused(besides={SESSION_NAME})]
    if not empty or expected <= past.present_ids or _has_all(directories, image, broker_id):
        return
    others = ""
    if any(len(each.replicas) > 1 for _, _, each in image.all_partitions()):
        others = (
            "; or, if it is lost, start the other brokers first: this one copies what they have in "
            "sync"
        )
    for directory in empty:
        directory.withhold(
            "the directory is empty, and partitions of this broker have no log: mount or restore "
            f"what was there, or delete the topics{others} (docs/guides/recovering.md)"
        )


def restore_ids(
    directories: Iterable[LogDirectory], image: Image, broker_id: int, past: DirectoryHistory
) -> None:
    """Write `meta.properties` again if a directory has lost all files with its id: with a new id,
    no partition in it would have a leader. The metadata has the ids of the partitions there."""
    registered = image.broker(broker_id)
    if registered is None or past.present_ids.issuperset(registered.log_directories):
        return
    missing = set(registered.log_directories) - past.present_ids
    for directory in directories:
        try:
            _restore_id(directory, image, broker_id, missing)
        except OSError as error:
            directory.health.failed("opening", error)


def _restore_id(directory: LogDirectory, image: Image, broker_id: int, missing: set[bytes]) -> None:
    files, path = directory.files, f"{directory.path}/{META_PROPERTIES_NAME}"
    if files.exists(path) or directory.ownership.read_mark() is not None:
        return
    ids = missing & _ids_of_partitions(directory, image, broker_id)
    if len(ids) == 1:  # else it gets a new one
        log.warning("%s is missing: the directory id is taken from the metadata", path)
        write_meta_properties(files, path, MetaProperties(image.cluster_id, broker_id, ids.pop()))


def _ids_of_partitions(directory: LogDirectory, image: Image, broker_id: int) -> set[bytes | None]:
    """Where the metadata places the partitions that are in this directory."""
    names = set(directory.files.list_directory(directory.path))
    return {
        partition.directory_of(broker_id)
        for topic, index, partition in image.all_partitions()
        if f"{topic.name}-{index}" in names
    }


def _has_all(directories: Iterable[LogDirectory], image: Image, broker_id: int) -> bool:
    names = {name for each in directories for name in each.files.list_directory(each.path)}
    return all(
        f"{topic.name}-{index}" in names
        for topic, index, partition in image.all_partitions()
        if broker_id in partition.replicas and not _is_led_elsewhere(partition, broker_id)
    )


def _is_led_elsewhere(partition: PartitionRegistration, broker_id: int) -> bool:
    has_everything = (*partition.in_sync_replicas, *partition.eligible_replicas)
    return partition.has_leader and broker_id not in has_everything


async def name_cluster(
    metadata_log: MetadataLog, image: Image, layers: BrokerLayers, past: DirectoryHistory
) -> None:
    """Assign the id of a new cluster: the one stored in its directories, or a random one."""
    if image.offset > 0:
        return
    cluster_id = past.known.cluster_id or uuid_to_text(random_uuid())
    batch = Batch(0, image.controller_epoch, decide_new_cluster(cluster_id, layers))
    await metadata_log.append(batch)
    image.apply(batch)
