"""One process of a local cluster: a broker or a ZooKeeper server.

Owns      the process: starting it, ending it, and noticing its end.
Promises  a process that ends by itself is reported once, to `on_death`. The process is in a session
          of its own: Ctrl-C reaches `ottla cluster up` alone, which ends the others in order.
Threads   any; operations on one member exclude each other.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from ottla.cli.errors import CommandFailed

STOP_S = 60.0
LOG_LINES = 10  # at most, in messages
READY = " is ready on "


class NotRunning(CommandFailed):
    """The process has ended, or was not started."""


class ProcessState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    STOPPED = "stopped"  # not started, or stopped on request
    KILLED = "killed"
    FAILED = "failed"  # ended by itself


class Member:
    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        log_path: Path,
        *,
        stdin: int,
        inherited: Sequence[int] = (),
        on_change: Callable[[], None],
        on_death: Callable[[Member], None],
    ) -> None:
        """`stdin` is a pipe whose end stops the process; it inherits the other descriptors."""
        self.name = name
        self.state = ProcessState.STOPPED
        self.address = ""
        self.exit_code: int | None = None
        self._arguments = arguments
        self._log_path = log_path
        self._log_position = 0
        self._stdin = stdin
        self._inherited = inherited
        self._on_change = on_change
        self._on_death = on_death
        self._process: subprocess.Popen[str] | None = None
        self._ended = threading.Event()
        self._is_closed = False
        self._operation = threading.Lock()  # held until the operation is complete
        self._changing = threading.Lock()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    @property
    def is_alive(self) -> bool:
        return self.state in (ProcessState.STARTING, ProcessState.RUNNING)

    def describe(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "state": str(self.state),
            "pid": self.pid if self.is_alive else None,
            "address": self.address or None,
            "exit_code": self.exit_code,
            "log": str(self._log_path),
        }

    def start(self) -> None:
        """Start it and wait until it is ready; CommandFailed with the end of its log if it ends."""
        with self._operation:
            try:
                process = self._spawn()
            except OSError as error:
                raise CommandFailed(
                    f"{self.name} cannot be started: {error.filename}: {error.strerror}"
                ) from error
            assert process.stdout is not None
            line = process.stdout.readline()
            if READY not in line:
                self._ended.wait()
            with self._changing:
                if not self._ended.is_set() and self.state is ProcessState.STARTING:
                    self.address = line.partition(READY)[2].strip()
                    self._become(ProcessState.RUNNING)
                    return
            self._ended.wait()
            raise CommandFailed(self.death_message())

    def _spawn(self) -> subprocess.Popen[str]:
        with self._changing, open(self._log_path, "ab") as log:
            if self.is_alive:
                raise CommandFailed(f"{self.name} is running already, as process {self.pid}")
            if self._is_closed:
                raise CommandFailed("the cluster is stopping")
            if self._process is not None and self._process.stdout is not None:
                self._process.stdout.close()
            self._log_position = log.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ottla.cli.main", *self._arguments],
                stdin=self._stdin,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=self._inherited,
                start_new_session=True,
                text=True,
            )
            self._ended.clear()
            self.exit_code = None
            self._become(ProcessState.STARTING)
            threading.Thread(target=self._wait, args=(self._process,), daemon=True).start()
            return self._process

    def _wait(self, process: subprocess.Popen[str]) -> None:
        exit_code = process.wait()
        with self._changing:
            self.exit_code = exit_code
            was_running = self.state is ProcessState.RUNNING
            if self.is_alive:
                self._become(ProcessState.FAILED)
            self._ended.set()
        if was_running:
            self._on_death(self)

    def stop(self) -> None:
        """As SIGTERM does; with SIGKILL if it does not end within a minute."""
        with self._operation:
            self._end(ProcessState.STOPPED, signal.SIGTERM)

    def kill(self) -> None:
        """As `kill -9` does."""
        with self._operation:
            self._end(ProcessState.KILLED, signal.SIGKILL)

    def close(self) -> None:
        """Stop it, also while it is starting. It is not started again."""
        with self._changing:
            self._is_closed = True
            if not self.is_alive:
                return
        with suppress(NotRunning):  # it ended just now
            self._end(ProcessState.STOPPED, signal.SIGTERM)

    def kill_now(self) -> None:
        """End it without waiting for anything."""
        if self._process is not None:
            self._process.kill()  # harmless if it has ended

    def _end(self, state: ProcessState, number: signal.Signals) -> None:
        with self._changing:
            if self._process is None or not self.is_alive:
                raise NotRunning(f"{self.name} is not running")
            self._become(state)
            self._process.send_signal(number)
            self._process.send_signal(signal.SIGCONT)  # a paused process would not notice it
        if not self._ended.wait(STOP_S):
            self._process.kill()
            self._ended.wait()
            raise CommandFailed(
                f"{self.name} did not stop within {STOP_S:.0f} s, and was killed",
                f"see {self._log_path}",
            )

    def _become(self, state: ProcessState) -> None:
        self.state = state
        self._on_change()

    def progress(self) -> str:
        """What it does, for those who wait for it."""
        output = self._log_end(1)
        is_ending = not self.is_alive and not self._ended.is_set()
        return f"{self.name}, which is {'stopping' if is_ending else self.state}" + (
            f"; its log ends with:\n{output}" if output else ""
        )

    def death_message(self) -> str:
        output = self._log_end(LOG_LINES)
        return f"{self.name} (process {self.pid}) {ending(self.exit_code)}" + (
            f":\n{output}" if output else f"; see {self._log_path}"
        )

    def _log_end(self, count: int) -> str:
        """The last lines that the process wrote."""
        with open(self._log_path, "rb") as log:
            log.seek(self._log_position)
            lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-count:])


def ending(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"was ended by signal {-exit_code}"
    return f"ended with exit code {exit_code}"
