from __future__ import annotations

import pytest
from tests.support.volumes import Volume

from ottla.storage.errors import CorruptLogError
from ottla.storage.files.cluster_mark import ClusterMark, read_cluster_mark, write_cluster_mark

MARK = ClusterMark("a cluster", 12, 3, b"d" * 16, (b"c" * 16, b"d" * 16))


def test_what_was_written_is_read_back(volume: Volume) -> None:
    path = volume.path("ottla.properties")
    assert read_cluster_mark(volume.files, path) is None
    for mark in (MARK, MARK._replace(metadata_offset=2**63 - 1, directory_ids=())):
        write_cluster_mark(volume.files, path, mark)
        assert read_cluster_mark(volume.files, path) == mark


@pytest.mark.parametrize(
    "wrong",
    [b"", b"version=0\n", b"version=1", b"\xff", b"metadata.offset=-1", b"metadata.offset=99999"],
)
def test_a_damaged_mark_is_reported(volume: Volume, wrong: bytes) -> None:
    path = volume.path("ottla.properties")
    write_cluster_mark(volume.files, path, MARK)
    content = volume.get("ottla.properties")
    if b"=" in wrong and wrong.startswith(b"metadata"):
        wrong = content.replace(b"metadata.offset=12", wrong * 4)
    volume.put("ottla.properties", wrong)
    with pytest.raises(CorruptLogError):
        read_cluster_mark(volume.files, path)


def test_every_truncated_mark_is_reported_or_means_the_same(volume: Volume) -> None:
    path = volume.path("ottla.properties")
    write_cluster_mark(volume.files, path, MARK)
    content = volume.get("ottla.properties")
    for size in range(len(content) - 1):
        volume.put("ottla.properties", content[:size])
        try:
            found = read_cluster_mark(volume.files, path)
        except CorruptLogError:
            continue
        assert found is not None
        assert found._replace(directory_ids=()) == MARK._replace(directory_ids=())
