"""The id of a log directory that has lost the files with its id, and directories that are empty."""

from __future__ import annotations

from random import Random

import pytest

from ottla.base.ids import TopicId
from ottla.broker.first_start import exclude_empty_directories, read_history, restore_ids
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import (
    BrokerRegistered,
    ClusterNamed,
    PartitionCreated,
    Record,
    TopicCreated,
)
from ottla.metadata.zookeeper.session_file import SESSION_NAME
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.files.file_names import META_PROPERTIES_NAME
from ottla.storage.files.meta_properties import read_meta_properties
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener

ME = 1
X, Y, OTHER = b"x" * 16, b"y" * 16, b"o" * 16
TOPIC_ID = TopicId(b"t" * 16)


@pytest.mark.parametrize(
    ("places", "registered", "restored"),
    [
        ((X, X), (X, Y), X),
        ((Y, Y), (X, Y), Y),
        ((X, Y), (X, Y), None),  # which of the two it was is not known
        ((X, OTHER), (X, Y), X),
        ((OTHER, OTHER), (X, Y), None),
        ((X, X), (Y,), None),
    ],
)
def test_an_id_is_restored_only_if_the_partitions_of_the_directory_agree_on_it(
    places: tuple[bytes, ...], registered: tuple[bytes, ...], restored: bytes | None
) -> None:
    disk, image = MemoryDisk(), Image()
    for index in range(len(places)):
        disk.make_directory(f"/one/t-{index}")
    records: tuple[Record, ...] = (
        ClusterNamed("cluster"),
        BrokerRegistered(ME, 1, bytes(16), (), (), None, False, False, registered),
        TopicCreated(TOPIC_ID, "t"),
        *(
            PartitionCreated(TOPIC_ID, index, (ME,), (ME,), ME, directories=(place,))
            for index, place in enumerate(places)
        ),
    )
    image.apply(Batch(0, 1, records))
    manager = LogManager(disk, ManualClock(), Random(1), ["/one"], IgnoringListener())
    manager.take()
    restore_ids(manager.online, image, ME, read_history(manager.online))
    found = read_meta_properties(disk, f"/one/{META_PROPERTIES_NAME}")
    assert (None if found is None else found.directory_id) == restored


@pytest.mark.parametrize("name", [None, "lost+found", SESSION_NAME, "other"])
def test_a_directory_in_which_only_the_session_was_stored_may_be_a_mount_point(
    name: str | None,
) -> None:
    """In a cluster the session is stored before the metadata are known."""
    disk, image = MemoryDisk(), Image()
    disk.make_directory("/one")
    if name is not None:
        disk.open(f"/one/{name}", create=True)
    records: tuple[Record, ...] = (
        ClusterNamed("cluster"),
        BrokerRegistered(ME, 1, bytes(16), (), (), None, False, False, (X,)),
        TopicCreated(TOPIC_ID, "t"),
        PartitionCreated(TOPIC_ID, 0, (ME,), (ME,), ME, directories=(X,)),
    )
    image.apply(Batch(0, 1, records))
    manager = LogManager(disk, ManualClock(), Random(1), ["/one"], IgnoringListener())
    manager.take()
    exclude_empty_directories(manager.online, image, ME, read_history(manager.directories))
    assert manager.directories[0].is_withheld == (name != "other")
