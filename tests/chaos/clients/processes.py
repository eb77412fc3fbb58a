"""The processes of clients: started, killed and paused like brokers, and replaced by successors."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tests.chaos.clients.worker import FENCED, HUNG, Order

ROOT = Path(__file__).parents[3]
END_S = 60.0


class ClientProcess:
    """One client. A successor has the same task and another name: "copier-1.0", "copier-1.1"."""

    def __init__(self, order: Order) -> None:
        self._task = order
        self._started = 0
        self.names: list[str] = []
        self.failures: list[str] = []
        self.hung: list[str] = []  # those that a fault of the client library has ended
        self.fenced: list[str] = []  # static members that joined again after their session
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def task(self) -> Order:
        return self._task

    def start(self) -> None:
        name = f"{self._task.name}.{self._started}"
        order = replace(self._task, name=name, seed=self._task.seed + self._started)
        self._started += 1
        self.names.append(name)
        with open(Path(order.directory) / f"{name}.log", "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.chaos.clients.worker", order.encode()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=ROOT,
            )

    def kill(self) -> None:
        """As `kill -9` does; its successor must be started."""
        assert self._process is not None
        self._process.kill()
        self._wait(END_S)

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def supersede(self) -> subprocess.Popen[bytes]:
        """Pause it and start its successor; the paused process, which the caller ends."""
        assert self._process is not None
        old = self._process
        old.send_signal(signal.SIGSTOP)
        self.start()
        return old

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def is_fenced(self) -> bool:
        return self._process is not None and self._process.poll() == FENCED

    def revive(self) -> None:
        """Start a successor of one that its library has ended."""
        if self._process is not None and self._process.poll() in (HUNG, FENCED):
            self._note_end(self._wait(END_S))
            self.start()

    def _note_end(self, code: int | None) -> None:
        if code == HUNG:
            self.hung.append(self.names[-1])
        elif code == FENCED:
            self.fenced.append(self.names[-1])
        elif code != 0:
            self.failures.append(f"{self.names[-1]} ended with code {code}")

    def ask_to_stop(self) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended
            self._process.stdin.write(b"stop\n")
            self._process.stdin.flush()

    def wait(self, deadline_s: float) -> None:
        """Until it has ended after `ask_to_stop`; anything but a clean end is a failure."""
        code = self._wait(max(0.1, deadline_s - time.monotonic()))
        if code is None:
            self.failures.append(f"{self.names[-1]} did not stop")
            self.kill()
        else:
            self._note_end(code)

    def _wait(self, patience_s: float) -> int | None:
        process = self._process
        if process is None:
            return 0
        try:
            code = end(process, patience_s)
        except subprocess.TimeoutExpired:
            return None
        self._process = None
        return code

    def close(self) -> None:
        if self._process is not None:
            self.kill()


def end(process: subprocess.Popen[bytes], patience_s: float | None = None) -> int:
    """Wait until it has ended; its exit code. TimeoutExpired if it takes longer."""
    code = process.wait(patience_s)
    assert process.stdin is not None
    with suppress(OSError):  # it has ended before it read the last command
        process.stdin.close()
    return code


def stop_all(clients: list[ClientProcess], patience_s: float) -> None:
    deadline_s = time.monotonic() + patience_s
    for client in clients:
        client.revive()
        if not client.is_running:
            client.failures.append(f"{client.names[-1]} had ended before it was stopped")
        client.ask_to_stop()
    for client in clients:
        client.wait(deadline_s)
