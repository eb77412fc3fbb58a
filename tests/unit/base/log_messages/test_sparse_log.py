"""The first line of a flood is written at once, the rest are counted."""

import logging

import pytest

from ottla.base.log_messages.sparse_log import SparseLog


def test_lines_within_the_time_are_left_out_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    log = SparseLog(logging.getLogger("flood"), logging.WARNING, every_s=10)
    for now_s in (0.0, 1.0, 9.9, 10.0, 12.0, 25.0):
        log.write(now_s, "refused %s", now_s)
    assert [record.getMessage() for record in caplog.records] == [
        "refused 0.0",
        "refused 10.0 (and 2 more since)",
        "refused 25.0 (and 1 more since)",
    ]
