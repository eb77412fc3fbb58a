"""Decompression bombs and wrong numbers cost little memory, and end in a code for the producer."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest

from ottla.protocol.error_codes import ErrorCode

GROWN_KIB_MAX = 64 * 1024
CPU_S_MAX = 300  # against a hang only
CODES = {ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD}


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_bombs_of_every_codec_are_refused_within_64_mib() -> None:
    finished = subprocess.run(
        [sys.executable, "-m", "tests.unit.protocol.records.bombs"],
        check=True,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (CPU_S_MAX, CPU_S_MAX)),
    )
    rows = [json.loads(line) for line in finished.stdout.splitlines()]
    assert len(rows) > 60
    assert [row for row in rows if row["code"] not in CODES] == []
    assert [row for row in rows if row["grown_kib"] > GROWN_KIB_MAX] == []
