from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest
from tests.integration.cli.conftest import Command
from tests.integration.cli.ottla_command import clean_environment, ottla

from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port

pytestmark = pytest.mark.xdist_group("command-line")


def test_the_cluster_at_a_glance(
    command: Command, shared_broker: RunningBroker, topic: str
) -> None:
    reported = command("status", "--format", "json").document
    assert reported["is_healthy"]
    assert reported["controller"] == 1
    address = shared_broker.bootstrap_servers
    assert reported["brokers"] == [{"id": 1, "address": address, "rack": None, "is_fenced": False}]
    assert reported["fenced_brokers"] == reported["offline_partitions"] == []
    assert reported["topics"] >= 1
    lines = command("status").lines
    assert "health      good" in lines


def test_a_broker_that_is_not_there_is_reported_with_what_to_do() -> None:
    port = non_ephemeral_port()
    failed = ottla("topics", "list", environment={"KAFKA_BOOTSTRAP_SERVERS": f"127.0.0.1:{port}"})
    assert failed.returncode == 1
    assert f"no broker responds on 127.0.0.1:{port}: Connection refused" in failed.stderr
    assert f"ottla up --listen 127.0.0.1:{port}" in failed.stderr
    assert "--bootstrap" in failed.stderr


def test_a_listener_that_is_no_broker_is_reported_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        failed = ottla("topics", "list", "-b", address, "--timeout", "0.3")
    assert failed.returncode == 1
    assert f"{address} accepts connections, but did not respond within 0.3 s" in failed.stderr


def test_waiting_ends_when_the_broker_is_there() -> None:
    port = non_ephemeral_port()
    with subprocess.Popen(
        [sys.executable, "-m", "ottla.cli.main", "status", "--wait", "300", "--format", "json",
         "-b", f"127.0.0.1:{port}"],
        stdout=subprocess.PIPE,
        env=clean_environment(),
    ) as waiting, RunningBroker(port=port):  # fmt: skip
        out, _ = waiting.communicate(timeout=300)
    assert waiting.returncode == 0
    assert json.loads(out)["is_healthy"]


def test_the_client_library_is_asked_for_where_it_is_missing(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    failed = command("topics", "list")
    assert failed.code == 1
    assert "pip install 'ottla[tools]'" in failed.err
