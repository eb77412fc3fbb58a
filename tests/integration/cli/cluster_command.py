"""`ottla cluster up` as a process, and what it leaves behind."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.integration.cli.ottla_command import ottla, start
from tests.support.waiting import wait_until

READY = "ottla cluster is ready on "


class ClusterCommand:
    """Runs until `end`. What it writes to standard error is read when it has ended."""

    def __init__(self, data: Path, *options: str) -> None:
        self.data = data
        self.process = start("cluster", "up", "--data", str(data), *options)
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        if not line.startswith(READY):
            raise AssertionError(self.end(signal.SIGKILL)[1])
        self.bootstrap_servers = line.removeprefix(READY).strip()

    def __call__(self, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
        return ottla("cluster", verb, *words, "--data", str(self.data))

    @property
    def members(self) -> dict[str, dict[str, Any]]:
        found = json.loads(self("status", "--format", "json").stdout)["members"]
        return {each["name"]: each for each in found}

    @property
    def pids(self) -> list[int]:
        return [each["pid"] for each in self.members.values() if each["pid"] is not None]

    def end(self, number: signal.Signals | None) -> tuple[int, str]:
        """Send the signal, and wait; the exit code, and what was written to standard error."""
        if number is not None:
            self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=180)
        return self.process.returncode, errors.decode()


def is_alive(pid: int) -> bool:
    """Whether the process runs: one that only waits for its parent to notice its end does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def wait_until_gone(pids: list[int]) -> None:
    wait_until(lambda: not any(map(is_alive, pids)), f"the end of {pids}")
