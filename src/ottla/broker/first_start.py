"""The first start of a cluster: its id and features, before anything else is known."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.base.filesystem import FileSystem
from ottla.base.uuids import random_uuid, uuid_to_text
from ottla.config.layers import BrokerLayers
from ottla.controller.new_cluster import decide_new_cluster
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import MetadataLog
from ottla.storage.files.file_names import META_PROPERTIES_NAME
from ottla.storage.files.meta_properties import read_meta_properties


async def name_cluster(
    metadata_log: MetadataLog,
    image: Image,
    layers: BrokerLayers,
    files: FileSystem,
    directories: Iterable[str],
) -> None:
    """Give a new cluster its id: the one its directories already have, or a random one."""
    if image.offset > 0:
        return
    cluster_id = known_cluster_id(files, directories) or uuid_to_text(random_uuid())
    batch = Batch(0, image.controller_epoch, decide_new_cluster(cluster_id, layers))
    await metadata_log.append(batch)
    image.apply(batch)


def known_cluster_id(files: FileSystem, directories: Iterable[str]) -> str | None:
    """A directory that a broker used before, perhaps Apache Kafka's, keeps its cluster's id."""
    for directory in directories:
        found = read_meta_properties(files, f"{directory}/{META_PROPERTIES_NAME}")
        if found is not None and found.cluster_id is not None:
            return found.cluster_id
    return None
