"""Removing files that may still be in use."""

from __future__ import annotations

import pytest
from tests.unit.storage.log_making import Place, append_many

from ottla.storage.log.deletion import Removal
from ottla.testing.filesystem import MemoryDisk


def test_a_file_that_is_opened_again_while_it_is_removed_does_not_stay_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    place = Place()
    log = place.open()
    append_many(log, 20)
    remove = MemoryDisk.remove_directory

    def remove_late(disk: MemoryDisk, path: str) -> None:
        for segment in log.segments:
            segment.sync()  # as a sync does that had begun before
        remove(disk, path)

    monkeypatch.setattr(MemoryDisk, "remove_directory", remove_late)
    Removal(place.disk, [log.path], close=log.release, is_directory=True).run()
    assert [segment._file for segment in log.segments] == [None] * len(log.segments)
    assert log.segments[0].indexes._offsets._entries._file is None
