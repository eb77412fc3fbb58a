from __future__ import annotations

import errno
import socket
from pathlib import Path

import pytest

from ottla.cli.broker_process.start_errors import (
    explain,
    explain_end,
    unclean_shutdown,
    unusable_directories,
)
from ottla.config.load import LoadedConfig, load_config
from ottla.metadata.log import CorruptMetadataError, MetadataLost, NewerMetadata
from ottla.metadata.zookeeper.service import ChrootMissing, ZnodeMissing
from ottla.network.listening import BindError
from ottla.storage.errors import CorruptLogError


@pytest.fixture
def settings(tmp_path: Path) -> LoadedConfig:
    return load_config(settings=["listeners=PLAINTEXT://nowhere:9", f"log.dirs={tmp_path}"])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (CorruptLogError("/x/0.log", 61, "torn"), ["/x/0.log at byte 61: torn", "--data"]),
        (CorruptMetadataError("/x/0.journal", 7, "torn"), ["/x/0.journal at byte 7", "damaged"]),
        (socket.gaierror(-2, "Name or service not known"), ["nowhere", "--listen"]),
        (OSError(errno.EADDRINUSE, "listener A on x:9: in use"), ["listener A on x:9", "port 0"]),
        (OSError(errno.EADDRNOTAVAIL, "listener A on x:9: no"), ["no such address", "--listen"]),
        (BindError(errno.EACCES, "listener A on x:9: no"), ["below 1024", "--listen"]),
        (PermissionError(errno.EACCES, "Permission denied", "/x/f"), ["/x/f: Permission denied"]),
        (OSError(errno.ENOSPC, "No space left on device", "/x/f"), ["No space left", "/x/f"]),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            ["{data}: No space left", "free some space"],
        ),
    ],
)
def test_the_message_says_what_to_do(
    error: Exception, words: list[str], settings: LoadedConfig
) -> None:
    reported = explain(error, settings)
    assert "[Errno" not in reported
    (data,) = settings.config.log_directories
    assert all(word.format(data=data) in reported for word in words)


MEMBER_ERRORS = [
    (MetadataLost("zookeeper://z/log", "the znode /x is missing"), ["/x", "restore ZooKeeper"]),
    (CorruptMetadataError("the znode /x", 0, "edited"), ["the znode /x", "restore ZooKeeper"]),
    (NewerMetadata("the znode /x", "format 2"), ["the znode /x", "newer version", "upgrade"]),
    (ZnodeMissing("/x"), ["the znode /x", "z:1/c", "restore ZooKeeper"]),
    (ChrootMissing("z:1/c"), ["z:1/c", "restore ZooKeeper"]),
]


@pytest.mark.parametrize(("error", "words"), MEMBER_ERRORS)
def test_errors_of_zookeeper_are_explained_at_the_start_and_while_the_broker_runs(
    error: Exception, words: list[str], tmp_path: Path
) -> None:
    settings = load_config(
        settings=["node.id=1", "zookeeper.connect=z:1/c", f"log.dirs={tmp_path}"]
    )
    for reported in (explain(error, settings), explain_end(error, settings)):
        assert all(word in reported for word in words)
        assert str(tmp_path) not in reported


def test_a_broker_that_ends_names_its_directories(settings: LoadedConfig) -> None:
    (data,) = settings.config.log_directories
    reported = explain_end(CorruptLogError(f"{data}/t-0/0.log", 7, "no batch"), settings)
    assert "no batch" in reported
    assert f"mend it in {data}, and start the broker again" in reported
    lost = MetadataLost(f"{data}/.metadata", "it is missing")
    assert explain_end(lost, settings) == explain(lost, settings)
    assert "upgrade" in explain_end(NewerMetadata("x.journal", "format 2"), settings)


def test_recovery_is_promised_only_where_it_can_be(tmp_path: Path) -> None:
    error = OSError(errno.EIO, "Input/output error", str(tmp_path / "f"))
    reported = unclean_shutdown(error, [str(tmp_path)])
    assert reported.endswith(f"the next start runs recovery: {tmp_path}/f: Input/output error")
    assert "cannot recover" in unclean_shutdown(error, [str(tmp_path / "gone")])


def test_one_directory_that_can_be_used_is_enough(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert unusable_directories([str(file), str(tmp_path / "new")]) is None


def test_a_file_in_place_of_the_directory_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    reported = unusable_directories([str(file)])
    assert reported is not None
    assert f"{file} is a file, not a directory" in reported
    reported = unusable_directories([f"{file}/below"])
    assert reported is not None
    assert "cannot be created: Not a directory" in reported
    assert "--data" in reported
