from __future__ import annotations

import logging

import pytest

from ottla.cli.interruptions import Interrupted, hide_interrupted_calls


def test_an_interrupted_call_is_not_logged_and_other_errors_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    root = logging.getLogger()
    before = list(root.filters)
    try:
        hide_interrupted_calls()
        for error in (Interrupted(15), ValueError("another")):
            try:
                raise error
            except (KeyboardInterrupt, ValueError):
                logging.exception("while sending command: %s", error)
        logging.error("without an exception")
    finally:
        root.filters[:] = before
    assert [each.getMessage() for each in caplog.records] == [
        "while sending command: another",
        "without an exception",
    ]
