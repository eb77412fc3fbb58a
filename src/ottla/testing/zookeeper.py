"""A real ZooKeeper server for tests, started with `ottla zookeeper`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

READY = "zookeeper is ready on "


class ZooKeeperServer:
    """One server. It ends with this process, whatever ends that."""

    def __init__(self, data: Path, *options: str, listen: str = "localhost:0") -> None:
        self._data = data
        self._options = options
        self.address = listen
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start it and wait until it serves; again on the same port, if it served before."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ottla.cli.main", "zookeeper", "--listen", self.address,
             "--data", str(self._data), "--stop-with-stdin", *self._options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith(READY), line
        self.address = line.removeprefix(READY).strip()
        return self

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def wait(self) -> int:
        """Until it has ended: its exit code."""
        assert self._process is not None
        code = self._process.wait()
        self.kill()  # closes the pipes
        return code
