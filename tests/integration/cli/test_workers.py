"""`ottla up --workers`: several brokers with one configuration, one of them killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from tests.support.waiting import wait_until

from ottla.base.ports import non_ephemeral_ports
from ottla.testing.zookeeper import ZooKeeperServer

COMMAND = [sys.executable, "-m", "ottla.cli.main", "up"]
READY = "ottla is ready on "


@pytest.fixture(scope="module")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = ZooKeeperServer(tmp_path_factory.mktemp("zookeeper")).start()
    yield server.address
    server.kill()


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in found.split()]


def brokers(bootstrap: str) -> dict[int, int]:
    """The ports of the brokers, by id."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    return {each.id: each.port for each in admin.list_topics(timeout=30).brokers.values()}


def free_port(count: int) -> int:
    """The first of several free ports in a row."""
    while True:
        (port,) = non_ephemeral_ports(1)
        if all(is_free(port + at) for at in range(count)):
            return port


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("localhost", port)) != 0


def test_workers_are_brokers_of_one_cluster_and_come_back(zookeeper: str, tmp_path: Path) -> None:
    port = free_port(2)
    settings = [f"zookeeper.connect={zookeeper}/workers", "node.id=10"]
    arguments = ["--workers", "2", "--listen", f"localhost:{port}", "--data", str(tmp_path / "d")]
    process = subprocess.Popen(
        [*COMMAND, *arguments, *(f"--set={each}" for each in settings)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == f"{READY}localhost:{port},localhost:{port + 1}\n"
    bootstrap = line.removeprefix(READY).strip()
    assert brokers(bootstrap) == {10: port, 11: port + 1}
    assert sorted(os.listdir(tmp_path / "d")) == ["worker-0", "worker-1"]
    killed = children(process.pid)[0]
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: len(brokers(bootstrap)) == 1, "one is fenced")
    wait_until(lambda: len(brokers(bootstrap)) == 2, "it was started again")
    workers = children(process.pid)
    assert len(workers) == 2
    assert killed not in workers
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    process.stdout.close()
    assert not any(Path(f"/proc/{each}").exists() for each in workers)


def test_workers_end_with_the_process_that_started_them(zookeeper: str, tmp_path: Path) -> None:
    port = free_port(2)
    settings = [f"zookeeper.connect={zookeeper}/orphans", f"log.dirs={tmp_path}/d"]
    process = subprocess.Popen(
        [
            *[*COMMAND, "--workers", "2", "--listen", f"localhost:{port}"],
            *(f"--set={each}" for each in settings),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(READY)
    workers = children(process.pid)
    process.kill()
    process.wait()
    process.stdout.close()
    wait_until(
        lambda: not any(Path(f"/proc/{each}").exists() for each in workers), "all have ended"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--workers", "2"], "set zookeeper.connect"),
        (["--workers", "0"], "is not a number from 1 to"),
        (["--workers", "x"], "is not a number from 1 to"),
        (
            [
                "--workers=3",
                "--set=zookeeper.connect=localhost:1",
                "--set=listeners=PLAINTEXT://localhost:9092,OTHER://localhost:9094",
                "--set=listener.security.protocol.map=PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT",
            ],
            "port 9094 would be used by the listeners",
        ),
        (
            ["--workers=2", "--set=zookeeper.connect=localhost:1", "--listen=localhost:65535"],
            "there is no port 65536",
        ),
    ],
)
def test_what_does_not_fit_is_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    found = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert found.returncode == 2
    assert message in found.stderr
    assert os.listdir(tmp_path) == []
