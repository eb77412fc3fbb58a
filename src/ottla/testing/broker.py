"""A real broker for tests: its own process, a free port, a directory of its own.

    with RunningBroker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})

Promises  ready when the `with` block begins, removed with its data when it ends; `kill` and
          `restart` in between are those of a real process. It never outlives the process that
          started it, however that one ends.
"""

from __future__ import annotations

import errno
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from ottla.base.ports import non_ephemeral_port
from ottla.testing.controls import BrokerClock, BrokerFaults, Send

__tracebackhide__ = True  # pytest shows failures at the line of the test

# Reached only by what hangs: machines that run tests may be busy.
START_S = 120.0
STOP_S = 120.0
PORTS_TRIED = 3
POLL_S = 0.05
COMMAND_S = 60.0
LOG_LINES = 30  # at most, in messages
# Kafka has 50 of each. To make them, when the first group or transaction begins, takes a fifth of
# the CPU time of a broker that lives for one test. Not where data is kept: the numbers must not
# change, and it may be the data of another broker.
FEW_PARTITIONS: Mapping[str, str] = {
    "offsets.topic.num.partitions": "6",
    "transaction.state.log.num.partitions": "6",
}


class BrokerFailed(RuntimeError):
    """The process ended, or did not come up: the message contains its output."""


class Controls:
    """Both kinds, of one broker."""

    def __init__(self, send: Send) -> None:
        self.clock = BrokerClock(send)
        self.faults = BrokerFaults(send)


class RunningBroker:
    """A broker in a process of its own. `ottla.testing.Broker` is this class."""

    def __init__(
        self,
        *,
        config: Mapping[str, Any] | None = None,
        data: str | Path | None = None,
        port: int = 0,
        environment: Mapping[str, str] | None = None,
        log_level: str = "WARNING",
        arguments: Sequence[str] = (),
        controls: bool = False,
    ) -> None:
        """Nothing is started yet.

        `config` are broker settings under Kafka's names. `data` is a directory to use and keep
        (default: a temporary one, removed by `close`). `port` 0 picks a free port. `environment`
        are variables besides those of this process. `arguments` are more arguments of `ottla up`.
        With `controls` there are `clock` and `faults`, and the event loop is asyncio's own.
        """
        self._controls = Controls(self._command) if controls else None
        self._config = {**(FEW_PARTITIONS if data is None else {}), **as_settings(config)}
        self._arguments = ["--log-level", log_level, *arguments]
        self.environment = dict(environment or {})  # besides this process's own, at the next start
        self._port = port
        if data == "":
            raise ValueError("data='': name a directory, or leave it out for one of its own")
        self._is_own_data = data is None
        self.data = Path(data) if data is not None else Path(tempfile.mkdtemp(prefix="ottla-"))
        self._process: subprocess.Popen[str] | None = None
        self._started: list[subprocess.Popen[str]] = []  # the last one
        self.is_paused = False
        self.bootstrap_servers = ""
        if self._is_own_data:  # also without a call of `close`
            weakref.finalize(self, remove, self.data, self._started, os.getpid())

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # Life

    def start(self) -> Self:
        """Start the process and wait until it accepts connections; itself, for chaining.

        After a `stop` or `kill` the port and the data are the same as before. A broker that is
        running already stays as it is.
        """
        if self.is_running:
            return self
        self.is_paused = False
        if self._port:
            self._start_on(self._port)
        else:
            self._start_anywhere()
        return self

    def _start_anywhere(self) -> None:
        for tries_left in reversed(range(PORTS_TRIED)):
            try:
                self._start_on(non_ephemeral_port())
                break
            except BrokerFailed as error:
                # Another process has bound the port since it was checked.
                if not tries_left or os.strerror(errno.EADDRINUSE) not in str(error):
                    raise
        self._port = int(self.bootstrap_servers.rpartition(":")[2])

    def _start_on(self, port: int) -> None:
        given = {
            "listeners": f"PLAINTEXT://127.0.0.1:{port}",
            "log.dirs": str(self.data.absolute()),
        }
        if "log.dir" in self._config:  # it has no effect beside log.dirs
            del given["log.dirs"]
        items = (given | self._config).items()
        settings = [word for item in items for word in ("--set", "=".join(item))]
        try:
            self.data.mkdir(parents=True, exist_ok=True)
            log = open(self.log_path, "a")  # noqa: SIM115
        except OSError as error:
            raise BrokerFailed(
                f"data={str(self.data)!r} cannot be used as the directory of a broker: "
                f"{error.strerror}"
            ) from None
        with log as errors:
            self._process = subprocess.Popen(
                [
                    sys.executable, "-m", *self._program(), *settings, *self._arguments,
                ],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                env={**os.environ, **self.environment},
            )  # fmt: skip
        self._started[:] = [self._process]
        self.bootstrap_servers = self._wait_until_ready()

    def _program(self) -> list[str]:
        """The module to run, with its first arguments."""
        if self._controls is None:
            return ["ottla.cli.main", "up", "--stop-with-stdin"]
        ahead_s = self._controls.clock.ahead_s
        return ["ottla.testing.broker_process", "--ahead-s", str(ahead_s)]

    def stop(self) -> int:
        """Stop cleanly (SIGTERM); returns the exit code. A paused broker is resumed for it."""
        process = self._running()
        if self.is_paused:
            self.resume()
        process.send_signal(signal.SIGTERM)
        try:
            return wait_for_end(process, STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            wait_for_end(process)
            raise BrokerFailed(f"did not stop within {STOP_S:.0f} s:\n{self.log_end()}") from None

    def kill(self) -> None:
        """End it as a crash would (SIGKILL)."""
        process = self._running()
        process.kill()
        wait_for_end(process)
        self.is_paused = False

    def wait_for_end(self, timeout_s: float = STOP_S) -> int:
        """Wait until the process has ended by itself; returns its exit code."""
        return wait_for_end(self._running(), timeout_s)

    def restart(self) -> Self:
        """Stop cleanly and start again; returns itself, for chaining."""
        self.stop()
        return self.start()

    def pause(self) -> None:
        """Stop the process where it is (SIGSTOP): connections stay open, nothing is answered."""
        self._require_running()
        self._running().send_signal(signal.SIGSTOP)
        self.is_paused = True

    def resume(self) -> None:
        """Resume a paused process (SIGCONT)."""
        self._require_running()
        self._running().send_signal(signal.SIGCONT)
        self.is_paused = False

    def close(self) -> None:
        """Stop it and remove its data; a given directory is kept, after a clean shutdown."""
        if self._is_own_data:
            if self._process is not None:
                self.kill()  # harmless if it has ended already
            shutil.rmtree(self.data, ignore_errors=True)
        elif self.is_running:
            self.resume()
            self.stop()

    # What can be controlled

    @property
    def clock(self) -> BrokerClock:
        """The broker's clock, with `controls=True`."""
        return self._require_controls("clock").clock

    @property
    def faults(self) -> BrokerFaults:
        """The faults of the broker, with `controls=True`."""
        return self._require_controls("faults").faults

    @property
    def ahead_s(self) -> float:
        """The number of seconds by which the broker's clock is ahead of the real time."""
        return 0.0 if self._controls is None else self._controls.clock.ahead_s

    def _require_controls(self, name: str) -> Controls:
        if self._controls is None:
            raise BrokerFailed(
                f"{name}: only with Broker(controls=True), or the fixture fresh_kafka_broker"
            )
        return self._controls

    def _command(self, name: str, **details: Any) -> Any:
        """Have the broker's process carry out a command; its answer."""
        self._require_running()
        if self.is_paused:
            raise BrokerFailed("the broker is paused")
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"do": name, **details}) + "\n")
        process.stdin.flush()
        answer = json.loads(self._line_within(COMMAND_S) or '{"error": "no answer"}')
        if "error" in answer:
            raise BrokerFailed(f"{name}: {answer['error']}\n{self.log_end()}")
        return answer["result"]

    def _line_within(self, seconds: float) -> str:
        """The next line that the process prints; "" if it ends or takes longer."""
        output = self._running().stdout
        assert output is not None
        readable = select.poll()  # not `select`: tests may have more than a thousand files open
        readable.register(output)
        return output.readline() if readable.poll(seconds * 1000) else ""

    # What can be seen

    def get_bootstrap_server(self) -> str:
        """`bootstrap_servers`, by the name that testcontainers' KafkaContainer gives it."""
        return self.bootstrap_servers

    @property
    def log_path(self) -> Path:
        """The file with what the broker wrote to standard error."""
        return self.data / "broker.log"

    @property
    def log(self) -> str:
        """What the broker wrote to standard error."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_end(self, lines: int = LOG_LINES) -> str:
        """The last lines of the log, for error messages."""
        return last_lines(self.log, lines)

    @property
    def pid(self) -> int:
        """The process id of the last start."""
        return self._running().pid

    @property
    def exit_code(self) -> int | None:
        """The exit code of a process that has ended (-9 after `kill`); None while it runs or before
        a start."""
        return None if self._process is None else self._process.poll()

    @property
    def is_running(self) -> bool:
        """Whether there is a process now, paused or not."""
        return self._process is not None and self._process.poll() is None

    def _require_running(self) -> None:
        if not self.is_running:
            raise BrokerFailed("the broker is not running")

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            raise BrokerFailed("the broker was not started")
        return self._process

    def _wait_until_ready(self) -> str:
        process = self._running()
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            line = self._line_within(POLL_S)
            if line.startswith("ottla is ready on "):
                return line.split()[-1]
            if process.poll() is not None:
                wait_for_end(process)
                raise BrokerFailed(f"ended with code {process.returncode}:\n{self.log_end()}")
        process.kill()
        wait_for_end(process)
        raise BrokerFailed(f"not ready within {START_S:.0f} s:\n{self.log_end()}")


def wait_for_end(process: subprocess.Popen[str], timeout_s: float | None = None) -> int:
    """The exit code, with the pipes to the process closed."""
    code = process.wait(timeout_s)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    return code


def remove(data: Path, started: Sequence[subprocess.Popen[str]], owner: int) -> None:
    """Cleans up a broker that was not closed; in a forked process the parent does."""
    if os.getpid() == owner:
        for process in started:
            process.kill()
            wait_for_end(process)
        shutil.rmtree(data, ignore_errors=True)


def as_settings(config: Mapping[str, Any] | None) -> dict[str, str]:
    """Settings as text: 3 is "3", True is "true"; TypeError for what is no setting."""
    if config is not None and not isinstance(config, Mapping):
        raise TypeError(f"config={config!r}: expected settings such as {{'retention.ms': 1000}}")
    for name, value in (config or {}).items():
        if not isinstance(name, str) or value is None:
            raise TypeError(f"config: {name!r}: {value!r} is not a setting with a value")
    return {name: as_text(name, value) for name, value in (config or {}).items()}


def as_text(name: str, value: Any) -> str:
    """A setting as Kafka writes it: a list is separated by commas."""
    match value:
        case bool():
            return str(value).lower()
        case float() if value.is_integer():
            return str(int(value))
        case str() | int() | float() | Path():
            return str(value)
        case list() | tuple():
            return ",".join(as_text(name, each) for each in value)
    raise TypeError(
        f"config: {name!r}: {value!r} is neither text nor a number, boolean or list; times are in "
        "the unit of the setting's name"
    )


def last_lines(text: str, count: int) -> str:
    """The end of a text, with how many lines are left out."""
    lines = text.splitlines()
    left_out = len(lines) - count
    if left_out <= 0:
        return text
    return "\n".join([f"... {left_out} lines before these ...", *lines[left_out:]])
