"""One program of another client: how it is started, and its output so far."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from tests.support.java_process import LOG_LEVEL
from tests.support.kafka_jars import KAFKA_VERSION, OLDER_VERSION, ROOT, kafka_libs, locked

PROGRAMS = Path(__file__).parent / "programs"
CACHE = ROOT / ".cache" / "cluster-clients"
MODULES = "tests.compatibility.cluster_clients.programs."
END_S = 240.0
SMALL = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


def python(module: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, "-m", MODULES + module]


def java(version: str) -> Callable[[], list[str]]:
    def command() -> list[str]:
        classes = f"{java_classes(version)}:{kafka_libs(version)}/*"
        return ["java", *SMALL, LOG_LEVEL.format("error"), "-cp", classes, "Client"]

    return command


@cache
def java_classes(version: str) -> Path:
    folder = CACHE / f"java-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    source = PROGRAMS / "Client.java"
    run(["javac", "-d", str(folder), "-cp", f"{kafka_libs(version)}/*", str(source)])
    return folder


def go(library: str) -> Callable[[], list[str]]:
    return lambda: [str(go_program()), library]


@cache
def go_program() -> Path:
    folder = CACHE / "go"
    with locked(CACHE / "go.lock"):
        shutil.copytree(PROGRAMS / "go", folder, dirs_exist_ok=True)
        run(["go", "mod", "tidy"], folder)
        run(["go", "build", "-o", "clients", "."], folder)
    return folder / "clients"


def node(program: str) -> Callable[[], list[str]]:
    return lambda: ["node", str(node_folder() / f"{program}.mjs")]


@cache
def node_folder() -> Path:
    folder = CACHE / "node"
    with locked(CACHE / "node.lock"):
        shutil.copytree(PROGRAMS / "node", folder, dirs_exist_ok=True)
        run(["npm", "install", "--no-audit", "--no-fund"], folder)
    return folder


def run(command: list[str], folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


CLIENTS: Mapping[str, Callable[[], list[str]]] = {
    "confluent-kafka": python("confluent"),
    "kafka-python": python("kafka_python"),
    "aiokafka": python("aio_kafka"),
    "java": java(KAFKA_VERSION),
    "java-3.9": java(OLDER_VERSION),
    "franz-go": go("franz-go"),
    "sarama": go("sarama"),
    "kafka-go": go("kafka-go"),
    "kafkajs": node("kafkajs"),
    "platformatic": node("platformatic"),
}
WITHOUT_TRANSACTIONS = ("kafka-go",)


class Program:
    """It works until `end`; its output is kept, by the first word of its lines."""

    def __init__(self, client: str, role: str, bootstrap: str, topic: str, *more: str) -> None:
        self.client = client
        self.role = role
        self.topic = topic
        self.reported: dict[str, list[str]] = {}
        self._process = subprocess.Popen(
            [*CLIENTS[client](), role, bootstrap, topic, *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, cwd=ROOT,
        )  # fmt: skip
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            word, _, rest = line.strip().partition(" ")
            known = word in ("sent", "read", "committed", "aborted", "unknown", "error")
            self.reported.setdefault(word if known else "other", []).append(rest if known else line)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def done(self) -> int:
        """How much it has done so far."""
        return sum(len(self.reported.get(word, ())) for word in ("sent", "read", "committed"))

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def end(self) -> int:
        """Stop it after its current operation, and return its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            code = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._reading.join()
        return code

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
