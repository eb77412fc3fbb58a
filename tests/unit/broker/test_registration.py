"""Whether a broker that starts claims that its last stop was clean."""

from __future__ import annotations

from random import Random

import pytest

from ottla.broker.registration import registration
from ottla.config.topic_options import TopicConfig
from ottla.storage.directories.directory_ownership import Owner
from ottla.storage.directories.log_manager import LogManager
from ottla.storage.files.clean_shutdown import write_clean_shutdown
from ottla.storage.files.file_names import CLEAN_SHUTDOWN_NAME
from ottla.testing.clock import ManualClock
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import IgnoringListener

PATHS = ("/one", "/two", "/three")


@pytest.mark.parametrize(
    ("epochs", "claimed"),
    [
        ((5, 5, 5), 5),
        ((5, 5, None), -1),
        ((None, None, None), -1),
        ((5, 6, 6), -1),
        ((-1, -1, -1), -1),
        ((0, 0, 0), 0),
    ],
)
def test_only_directories_that_one_run_closed_all_together_are_a_clean_stop(
    epochs: tuple[int | None, ...], claimed: int
) -> None:
    """The controller keeps replicas eligible only then: others may have lost records."""
    disk = MemoryDisk()
    for path, epoch in zip(PATHS, epochs, strict=True):
        disk.make_directory(path)
        if epoch is not None:
            write_clean_shutdown(disk, f"{path}/{CLEAN_SHUTDOWN_NAME}", epoch)
    logs = LogManager(disk, ManualClock(), Random(1), PATHS, IgnoringListener())
    logs.open(Owner("cluster", 1))
    list(logs.load(lambda _topic: TopicConfig()))
    request = registration(1, "cluster", None, (), logs)
    assert request.previous_broker_epoch == claimed
    assert len(set(request.log_dirs)) == len(PATHS)
