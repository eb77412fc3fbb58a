"""A broker for one command: its own process and directory, both removed with the command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ottla.base.ports import non_ephemeral_port
from ottla.cli.errors import CommandFailed

READY = "ottla is ready on "


@contextmanager
def temporary_broker(directory: Path) -> Iterator[str]:
    """The address of the broker, which stops when its standard input closes, and so when this
    process is killed."""
    with open(directory / "broker.log", "w") as log:
        process = subprocess.Popen(
            [
                sys.executable, "-m", "ottla.cli.main", "up", "--stop-with-stdin",
                "--listen", f"127.0.0.1:{non_ephemeral_port()}",
                "--data", str(directory / "broker"), "--log-level", "WARNING",
            ],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith(READY):
                yield line.split()[-1]
                return
        raise CommandFailed(
            "the broker for the test did not start", (directory / "broker.log").read_text()
        )
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
