"""The processes of a local cluster, as `ottla cluster up` runs them.

Owns      all members, and the socket for commands from other terminals.
Promises  brokers end before ZooKeeper, also if this process is killed: standard input of brokers
          is a pipe that only this process writes to; that of ZooKeeper is one that the brokers keep
          open as well.
Threads   `run` is called in the main thread. Members start in threads of their own, and commands
          are carried out in those of the control server.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import Any

from ottla.cli.errors import CommandFailed, did_you_mean
from ottla.cli.local_cluster.control import ControlServer
from ottla.cli.local_cluster.directory import HOST, ClusterDirectory, Description, replace_file
from ottla.cli.local_cluster.member import Member, ProcessState
from ottla.cli.local_cluster.reminders import reminders

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
REMINDER_S = 15.0  # longer than a start takes on a busy machine
STOP = "stop"
READY = "ready"


class Supervisor:
    def __init__(
        self, directory: ClusterDirectory, description: Description, *, jars: str | None
    ) -> None:
        self._directory = directory
        self._description = description
        # Put by signal handlers, too: SimpleQueue allows it.
        self._events: SimpleQueue[str | CommandFailed] = SimpleQueue()
        self._is_stopping = False
        self._has_stopped = threading.Event()
        self._writing = threading.Lock()
        broker_stdin, self._broker_life = os.pipe()
        zookeeper_stdin, self._zookeeper_life = os.pipe()
        self.zookeepers = {
            f"zookeeper-{number}": self._zookeeper(number, zookeeper_stdin, jars)
            for number in description.zookeepers
        }
        self.brokers = {
            f"broker-{broker_id}": self._broker(broker_id, broker_stdin)
            for broker_id in description.broker_ports
        }
        self.members = {**self.zookeepers, **self.brokers}

    def _zookeeper(self, number: int, stdin: int, jars: str | None) -> Member:
        name = f"zookeeper-{number}"
        path = self._directory.member(name)
        ports = self._description.zookeepers[number]
        arguments = ["zookeeper", "--listen", f"{HOST}:{ports.client}", "--data", str(path)]
        if len(self._description.zookeepers) > 1:
            servers = [
                f"{n}={HOST}:{each.data}:{each.election}"
                for n, each in self._description.zookeepers.items()
            ]
            arguments += ["--servers", ",".join(servers), "--id", str(number)]
        if jars is not None:
            arguments += ["--jars", jars]
        return Member(
            name,
            [*arguments, "--stop-with-stdin"],
            path / "zookeeper.log",
            stdin=stdin,
            on_change=self._write_state,
            on_death=self._report_death,
        )

    def _broker(self, broker_id: int, stdin: int) -> Member:
        name = f"broker-{broker_id}"
        config = str(self._directory.properties(broker_id))
        return Member(
            name,
            ["up", "--config", config, "--log-level", "INFO", "--stop-with-stdin"],
            self._directory.member(name) / "broker.log",
            stdin=stdin,
            inherited=[self._zookeeper_life],
            on_change=self._write_state,
            on_death=self._report_death,
        )

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(each.address for each in self.brokers.values() if each.address)

    # Life

    def run(self, on_ready: Callable[[], None]) -> int:
        """Run until it is stopped; returns the exit code. CommandFailed if it does not start."""
        with self._stop_signals(), ControlServer(self._directory, self.run_verb) as server:
            serving = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            serving.start()
            starting = threading.Thread(target=self._start_all, daemon=True)
            starting.start()
            failure: CommandFailed | None = None
            while (event := self._events.get()) != STOP:
                if event == READY:
                    on_ready()
                elif isinstance(event, CommandFailed):
                    failure = event
                    break
            problems = self._stop_all()
            starting.join()
            self._has_stopped.set()
            server.shutdown()
        with suppress(OSError):
            self._directory.running_path.unlink(missing_ok=True)
        if failure is not None:
            raise failure
        for problem in problems:
            report(str(problem))
        return 1 if problems else 0

    @contextmanager
    def _stop_signals(self) -> Iterator[None]:
        """The first signal stops the cluster, the second one kills it."""

        def handle(_number: int, _frame: object) -> None:
            self._events.put(STOP)
            if self._is_stopping:
                for member in self.members.values():
                    member.kill_now()

        before = {number: signal.signal(number, handle) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _start_all(self) -> None:
        """All at once: brokers load their code while ZooKeeper starts, and then wait for it."""
        with reminders(REMINDER_S, self._starting, report):
            failures = each_of(self.members.values(), Member.start, self._events.put)
        if not failures:
            self._events.put(READY)

    def _starting(self) -> list[str]:
        members = self.members.values()
        return [each.progress() for each in members if each.state is ProcessState.STARTING]

    def _stop_all(self) -> list[CommandFailed]:
        self._is_stopping = True
        return [
            *each_of(self.brokers.values(), Member.close),
            *each_of(self.zookeepers.values(), Member.close),
        ]

    def _report_death(self, member: Member) -> None:
        if not self._is_stopping:
            name = short_name(member.name)
            report(
                f"{member.death_message()}\n  start it again: "
                f"ottla cluster start {name}{self._directory.option()}"
            )

    def _write_state(self) -> None:
        path = self._directory.running_path
        try:
            with self._writing:
                replace_file(path, json.dumps(self.describe(), indent=2) + "\n")
        except OSError as error:  # such as a full disk: commands ask this process, not the file
            report(f"{path} was not written: {error.strerror}")

    # Commands from other terminals

    def describe(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "bootstrap_servers": self.bootstrap_servers,
            "zookeeper_connect": self._description.zookeeper_connect,
            "members": [each.describe() for each in self.members.values()],
        }

    def run_verb(self, request: dict[str, Any]) -> Any:
        match request:
            case {"do": "status"}:
                return self.describe()
            case {"do": "down"}:
                self._events.put(STOP)
                self._has_stopped.wait()
                return None
            case {"do": "start" | "stop" | "kill" | "restart" as verb, "id": str(name)}:
                member = self._find(name)
                OPERATIONS[verb](member)
                return member.describe()
            case {"do": "progress", "id": str(name)}:
                return self._find(name).progress()
            case {"do": "remove", "broker": int(broker_id)}:
                self._remove(broker_id)
                return None
        raise CommandFailed(f"unknown request: {request}")

    def _remove(self, broker_id: int) -> None:
        """A broker that has left the cluster is not started again. Its files are kept."""
        member = self._find(str(broker_id))
        if member.is_alive:
            raise CommandFailed(
                f"{member.name} is running", f"stop it: ottla cluster stop {broker_id}"
            )
        self._description = self._description.without_broker(broker_id)
        replace_file(self._directory.description_path, self._description.encode())
        self.brokers = {name: each for name, each in self.brokers.items() if each is not member}
        self.members = {**self.zookeepers, **self.brokers}
        self._write_state()

    def _find(self, name: str) -> Member:
        found = self.members.get(f"broker-{name}") or self.members.get(name)
        if found is None:
            known = [short_name(each) for each in self.members]
            question = did_you_mean(name, known)
            raise CommandFailed(
                f"the cluster has no member {name}" + (f"; {question}" if question else ""),
                f"it has {', '.join(known)}",
            )
        return found


def restart(member: Member) -> None:
    if member.is_alive:
        member.stop()
    member.start()


OPERATIONS: dict[str, Callable[[Member], None]] = {
    "start": Member.start,
    "stop": Member.stop,
    "kill": Member.kill,
    "restart": restart,
}


def each_of(
    members: Iterable[Member],
    operation: Callable[[Member], None],
    on_failure: Callable[[CommandFailed], None] = lambda _failure: None,
) -> list[CommandFailed]:
    """Carry out the operation on all of them at the same time; the failures."""

    def attempt(member: Member) -> CommandFailed | None:
        try:
            operation(member)
        except CommandFailed as error:
            on_failure(error)
            return error
        return None

    given = list(members)
    with ThreadPoolExecutor(len(given)) as threads:
        return [each for each in threads.map(attempt, given) if each is not None]


def short_name(name: str) -> str:
    """As commands take it: brokers are numbers."""
    return name.removeprefix("broker-")


def report(text: str) -> None:
    with suppress(OSError):
        print(f"ottla cluster up: {text}", file=sys.stderr, flush=True)
