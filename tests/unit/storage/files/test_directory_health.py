from __future__ import annotations

import errno
import os

import pytest

from ottla.storage.files.directory_health import DirectoryHealth


def failure(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def ignore(_path: str) -> None:
    """Most tests ask the health itself."""


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOTEMPTY]
)
def test_a_directory_stays_online_where_nothing_was_lost(number: int) -> None:
    health = DirectoryHealth("/logs", ignore)
    refused = health.refused("appending to t-0", failure(number))
    assert os.strerror(number) in str(refused)
    health.check()
    assert health.is_online


def test_a_directory_that_lost_a_write_goes_offline() -> None:
    failed: list[str] = []
    health = DirectoryHealth("/logs", failed.append)
    health.refused("appending to t-0", failure(errno.EIO))
    assert failed == ["/logs"]
    assert not health.is_online


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.ENOTEMPTY, errno.EMFILE])
def test_trouble_at_every_request_is_logged_once_in_ten_seconds(
    caplog: pytest.LogCaptureFixture, number: int
) -> None:
    now_s = 0.0
    health = DirectoryHealth("/disk", ignore, lambda: now_s)
    for _ in range(1000):
        health.refused("appending", OSError(number, "trouble"))
    now_s = 10.0
    health.refused("appending", OSError(number, "trouble"))
    assert len(caplog.records) == 2
    assert "and 999 more since" in caplog.records[1].getMessage()
    assert health.is_online
