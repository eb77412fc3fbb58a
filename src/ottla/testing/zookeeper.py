"""A real ZooKeeper server for tests, started with `ottla zookeeper`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

from ottla.testing.broker import BrokerFailed, wait_for_end

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
        self._data.mkdir(parents=True, exist_ok=True)
        log_path = self._data / "zookeeper.log"
        with open(log_path, "w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "ottla.cli.main", "zookeeper", "--listen", self.address,
                 "--data", str(self._data), "--stop-with-stdin", *self._options],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        self._process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith(READY):
            process.wait()
            output = log_path.read_text(errors="replace")
            raise BrokerFailed(f"ZooKeeper ended with code {process.returncode}:\n{output}")
        self.address = line.removeprefix(READY).strip()
        return self

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            wait_for_end(process)

    def wait(self) -> int:
        """Wait until it has ended; returns its exit code."""
        assert self._process is not None
        code = self._process.wait()
        self.kill()  # closes the pipes
        return code
