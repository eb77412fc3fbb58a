"""`ottla zookeeper` as a process: one server, an ensemble, and what it says if it cannot start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from kazoo.client import KazooClient
from tests.integration.cli.ottla_command import PATIENCE_S, ottla, start

from ottla.testing.ports import non_ephemeral_ports
from ottla.testing.zookeeper import ZooKeeperServer


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "small"
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(path)]
    if os.getuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def test_what_was_written_is_there_after_a_kill(tmp_path: Path) -> None:
    server = ZooKeeperServer(tmp_path / "data").start()
    client = KazooClient(server.address)
    client.start(60)
    client.create("/kept", b"value")
    server.kill()
    server.start()
    assert client.retry(client.get, "/kept")[0] == b"value"
    client.stop()
    client.close()
    server.signal(signal.SIGTERM)
    assert server.wait() in (128 + signal.SIGTERM, -signal.SIGTERM)


def test_three_servers_form_an_ensemble(tmp_path: Path) -> None:
    ports = non_ephemeral_ports(6)
    members = ",".join(f"{n + 1}=localhost:{ports[2 * n]}:{ports[2 * n + 1]}" for n in range(3))
    servers = [
        ZooKeeperServer(tmp_path / str(n), "--servers", members, "--id", str(n)) for n in (1, 2, 3)
    ]
    try:
        with ThreadPoolExecutor() as threads:
            list(threads.map(ZooKeeperServer.start, servers))
        clients = [KazooClient(server.address) for server in servers]
        for client in clients:
            client.start(60)
        clients[0].create("/shared")
        clients[2].sync("/shared")
        assert clients[2].exists("/shared")
        for client in clients:
            client.stop()
            client.close()
    finally:
        for server in servers:
            server.kill()


def test_a_server_without_a_majority_says_what_it_waits_for(tmp_path: Path) -> None:
    waiting = start(
        "zookeeper", "--listen", "localhost:0", "--data", str(tmp_path),
        "--servers", "1=localhost:1:2,2=localhost:3:4", "--id", "1",
    )  # fmt: skip
    assert waiting.stderr is not None
    try:
        line = waiting.stderr.readline().decode()
    finally:
        waiting.kill()
        waiting.communicate()
    assert "waiting for a majority of the servers 1=localhost:1:2,2=localhost:3:4" in line


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = ottla("zookeeper", "--listen", address, "--data", str(tmp_path))
    assert done.returncode == 1
    assert f"cannot listen on {address}: Address already in use" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jars", "."], "there is no zookeeper-*.jar in it"),
        (["--data", "/proc/nowhere"], "--data /proc/nowhere: No such file or directory"),
        (["--id", "1"], "--id belongs to an ensemble"),
        (["--id", "9", "--servers", "1=a:1:2,2=b:1:2"], "--id 9 is not one of the ids"),
        (["--servers", "1=a:1:2,1=b:1:2"], "has an id twice"),
        (["--servers", "a:1:2"], "is not ID=HOST:PORT:PORT"),
        (["--servers", "0=a:1:2"], "ids are 1 to 255"),
        (["--servers", "1=a:2888"], "'1=a:2888' is not ID=HOST:PORT:PORT"),
        (["--servers", "1=a:1:2,2=a:1:3"], "has the address a:1 twice"),
        (["--servers", "1=a:1:1"], "has the address a:1 twice"),
        (["--listen", "localhost:99999"], "ports are 0 to 65535"),
        (["--heap", "much"], "--heap: 'much' is not a size"),
    ],
)
def test_what_cannot_be_done_is_said(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = ottla("zookeeper", "--listen", "localhost:0", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_data_directory_that_takes_no_bytes_is_named(tmp_path: Path) -> None:
    """As on a full disk, where empty files can still be made."""
    words = ["-m", "ottla.cli.main", "zookeeper", "--listen", "localhost:0"]
    words += ["--data", str(tmp_path)]
    done = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", sys.executable, "-B", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 2
    assert f"--data {tmp_path}: File too large" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_ends_before_it_serves_is_noticed(tmp_path: Path) -> None:
    done = ottla("zookeeper", "--listen", "localhost:0", "--data", str(tmp_path), "--heap", "1k")
    assert done.returncode == 1
    assert "ended before it served clients: --log shows why" in done.stderr


def test_a_server_that_ends_because_its_disk_is_full_says_so(small_disk: Path) -> None:
    data = small_disk / "data"
    with start("zookeeper", "--listen", "localhost:0", "--data", str(data)) as server:
        assert server.stdout is not None
        address = server.stdout.readline().decode().split()[-1]
        with suppress(OSError), open(small_disk / "filling", "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        client = KazooClient(address)
        client.start_async()  # its session is the first change that the server has to write
        said = server.communicate(timeout=PATIENCE_S)[1].decode()
        client.stop()
        client.close()
    assert f"ottla zookeeper: the server on {address} has ended: the disk of {data} is full" in said
    assert server.returncode not in (0, None)
