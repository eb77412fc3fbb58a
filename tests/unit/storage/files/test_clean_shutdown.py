from __future__ import annotations

from random import Random

import pytest
from tests.support.volumes import Volume

from ottla.base.ids import NO_BROKER_EPOCH
from ottla.storage.files.clean_shutdown import (
    CleanShutdown,
    read_clean_shutdown,
    remove_clean_shutdown,
    write_clean_shutdown,
)
from ottla.testing.filesystem import MemoryDisk

NAME = ".kafka_cleanshutdown"


def test_the_marker_is_written_as_kafka_writes_it(volume: Volume) -> None:
    write_clean_shutdown(volume.files, volume.path(NAME), 123)
    assert volume.get(NAME) == b'{"version":0,"brokerEpoch":123}'
    assert read_clean_shutdown(volume.files, volume.path(NAME)) == CleanShutdown(123)


def test_without_a_marker_the_stop_was_not_clean(volume: Volume) -> None:
    assert read_clean_shutdown(volume.files, volume.path(NAME)) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff",
        b"[1]",
        b"123",
        b"{}",
        b'{"version":0}',
        b'{"brokerEpoch":"7"}',
        b'{"brokerEpoch":true}',
        b'{"brokerEpoch":-1}',
        b'{"brokerEpoch":9223372036854775808}',
        b"[" * 100_000,
    ],
)
def test_a_marker_that_does_not_say_counts_without_an_epoch(volume: Volume, content: bytes) -> None:
    volume.put(NAME, content)
    shutdown = read_clean_shutdown(volume.files, volume.path(NAME))
    assert shutdown == CleanShutdown(NO_BROKER_EPOCH)


def test_fields_of_later_versions_are_ignored(volume: Volume) -> None:
    volume.put(NAME, b'{"version":1,"brokerEpoch":9,"more":[{}]}')
    assert read_clean_shutdown(volume.files, volume.path(NAME)) == CleanShutdown(9)


def test_a_power_cut_neither_loses_nor_brings_back_the_marker() -> None:
    for seed in range(30):
        disk = MemoryDisk()
        disk.make_directory("/data")
        disk.sync_directory("/")
        write_clean_shutdown(disk, "/data/.kafka_cleanshutdown", 5)
        disk.crash(Random(seed))
        assert read_clean_shutdown(disk, "/data/.kafka_cleanshutdown") == CleanShutdown(5)
        remove_clean_shutdown(disk, "/data/.kafka_cleanshutdown")
        disk.crash(Random(seed))
        assert read_clean_shutdown(disk, "/data/.kafka_cleanshutdown") is None


def test_removing_a_marker_that_is_not_there_is_fine(volume: Volume) -> None:
    remove_clean_shutdown(volume.files, volume.path(NAME))
    remove_clean_shutdown(volume.files, volume.path(NAME))
