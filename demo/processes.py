"""Processes of the demo: each in its own session, killed individually or all together.

Owns      standard input (which keeps the process alive), the log file, and the child processes:
          Spark's JVM and its Python workers.
Promises  after `end` or `kill` none of its processes is left.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PACKAGE_PARENT = Path(__file__).parents[1]
END_S = 60.0


class Child:
    """`python -m module arguments`, with both outputs in a log."""

    def __init__(
        self,
        module: str,
        arguments: list[str],
        log: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.module = module
        self.log = log
        with log.open("a") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.PIPE, stdout=output, stderr=output, cwd=PACKAGE_PARENT,
                env={**os.environ, **(environment or {})},
                # Ctrl-C reaches only the orchestrator, which stops the others.
                start_new_session=True,
            )  # fmt: skip

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.poll()

    def said(self, text: str) -> bool:
        return text in self.log.read_text(errors="replace")

    def last_words(self, lines: int = 15) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def find(self, command: str) -> int | None:
        """The process with this name among this one and its descendants."""
        found = (pid for pid in session_of(self.pid) if name_of(pid) == command)
        return next(found, None)

    def signal(self) -> None:
        """Write a line to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """SIGKILL, with all its descendants."""
        for pid in session_of(self.pid):
            kill_one(pid)
        self._wait()

    def end(self) -> int:
        """Close its standard input and wait; what remains is killed."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            pass
        self.kill()
        return self._process.returncode

    def _wait(self) -> None:
        self._process.wait(END_S)
        if self._process.stdin is not None:
            self._process.stdin.close()


def kill_one(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has already ended


def session_of(leader: int) -> list[int]:
    """All processes of a session, including those whose parent has ended."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (fields := stat_of(int(entry))):
            state, session = fields[0], int(fields[3])
            if session == leader and state != "Z":
                found.append(int(entry))
    return found


def stat_of(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name: state, parent, group, session, ..."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
