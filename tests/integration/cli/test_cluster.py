"""`ottla cluster`: a cluster in one command, and what other terminals do to it."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.cli.cluster_command import ClusterCommand, is_alive, wait_until_gone
from tests.integration.cli.conftest import Command, CommandFor
from tests.integration.cli.ottla_command import ottla, start
from tests.support.waiting import wait_until

from ottla.base.java.properties import parse_properties

pytestmark = pytest.mark.xdist_group("cluster-command")


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterCommand]:
    running = ClusterCommand(tmp_path_factory.mktemp("cluster"), "--port", "0")
    yield running
    running.end(signal.SIGTERM)


@pytest.fixture
def cluster(shared_cluster: ClusterCommand) -> Iterator[ClusterCommand]:
    """Three brokers, all running: those that a failed test has ended are started again."""
    yield shared_cluster
    running = json.loads((shared_cluster.data / "running.json").read_text())
    for member in running["members"]:
        if member["state"] != "running":
            shared_cluster("start", member["name"])


def test_three_brokers_serve(cluster: ClusterCommand, command_for: CommandFor) -> None:
    command = command_for(cluster.bootstrap_servers)
    assert len(cluster.bootstrap_servers.split(",")) == 3
    status = command("status", "--wait", "120", "--format", "json").document
    assert [each["id"] for each in status["brokers"]] == [1, 2, 3]
    assert status["controller"] in (1, 2, 3)
    assert command("topics", "create", "t", "-p", "6").code == 0
    assert command("produce", "t", *(f"value {n}" for n in range(20))).code == 0
    assert len(command("consume", "t", "--exit").lines) == 20


def test_the_files_name_processes_and_ports(cluster: ClusterCommand) -> None:
    running = json.loads((cluster.data / "running.json").read_text())
    assert running == json.loads(cluster("status", "--format", "json").stdout)
    assert running["pid"] == cluster.process.pid
    assert running["bootstrap_servers"] == cluster.bootstrap_servers
    members = {each["name"]: each for each in running["members"]}
    assert [*members] == ["zookeeper-1", "broker-1", "broker-2", "broker-3"]
    for broker_id in (1, 2, 3):
        member = members[f"broker-{broker_id}"]
        path = cluster.data / f"broker-{broker_id}" / "server.properties"
        settings = parse_properties(path.read_bytes())
        assert settings["node.id"] == str(broker_id)
        assert settings["listeners"] == f"PLAINTEXT://{member['address']}"
        assert settings["zookeeper.connect"] == running["zookeeper_connect"]
        assert Path(settings["log.dirs"], "meta.properties").exists()
        words = Path(f"/proc/{member['pid']}/cmdline").read_text().split("\0")
        assert words[words.index("up") + 1 :][:2] == ["--config", str(path)]


def test_a_broker_is_killed_and_started_from_another_terminal(cluster: ClusterCommand) -> None:
    before = cluster.members["broker-2"]
    killed = cluster("kill", "2")
    assert killed.stdout == "killed broker-2\n", killed.stderr
    assert not is_alive(before["pid"])
    assert "broker-2     killed         -" in cluster("status").stdout
    assert cluster("status").returncode == 1
    again = cluster("kill", "2")
    assert (again.returncode, again.stderr) == (1, "ottla cluster kill: broker-2 is not running\n")
    started = cluster("start", "2")
    after = cluster.members["broker-2"]
    assert after["address"] == before["address"]
    assert started.stdout == f"started broker-2 on {after['address']}, as process {after['pid']}\n"
    assert cluster("status").returncode == 0
    twice = cluster("start", "2")
    assert f"broker-2 is running already, as process {after['pid']}" in twice.stderr


def test_status_shows_a_broker_that_is_down_and_what_is_offline(
    cluster: ClusterCommand, command_for: CommandFor
) -> None:
    command = command_for(cluster.bootstrap_servers)
    assert command("topics", "create", "spread", "-p", "15", "-r", "1").code == 0
    assert cluster("kill", "2").returncode == 0
    address = cluster.bootstrap_servers.split(",")[1]
    wait_until(lambda: command("status").code == 1, "the cluster notices that a broker is down")
    status = command("status", "--format", "json").document
    assert status["fenced_brokers"] == [2]
    assert status["controller"] in (1, 3)
    assert status["brokers"][1] == {"id": 2, "address": address, "rack": None, "is_fenced": True}
    offline = [each for each in status["offline_partitions"] if each.startswith("spread-")]
    assert len(offline) == 5
    assert status["partitions_without_leader"] == len(status["offline_partitions"])
    text = command("status").out
    assert "1 broker fenced" in text
    assert offline[0] in text
    assert [line.split()[-1] for line in text.splitlines()[-3:]] == ["serving", "fenced", "serving"]
    assert cluster("start", "2").returncode == 0
    recovered = command("status", "--wait", "120", "--format", "json").document
    assert recovered["fenced_brokers"] == recovered["offline_partitions"] == []
    assert command("topics", "delete", "spread").code == 0


def test_what_waits_for_replicas_and_leaders_says_so(
    cluster: ClusterCommand, command_for: CommandFor
) -> None:
    at = {"OTTLA_BOOTSTRAP": cluster.bootstrap_servers}
    command = command_for(cluster.bootstrap_servers)
    ottla("topics", "create", "waiting", "-p", "2", environment=at)
    ottla("produce", "waiting", "-p", "0", "one", environment=at)
    ottla("consume", "waiting", "-e", "-g", "waiters", environment=at)

    cluster("kill", "2", "3")
    wait_until(lambda: in_sync("waiting", command) == [[1], [1]], "in-sync replicas")
    done = ottla("produce", "waiting", "-p", "1", "two", "--timeout", "3", environment=at)
    assert done.returncode == 1
    assert "partition 1 has 1 of 3 replicas in sync, and needs 2" in done.stderr

    cluster("kill", "1")
    cluster("start", "2")
    wait_until(lambda: in_sync("waiting", command) == [[], []], "the controller")
    read = ottla("consume", "waiting", "-e", environment=at)
    assert (read.returncode, read.stdout) == (1, "")
    reported = "there is no leader of waiting-0, waiting-1\n  see: ottla status\n"
    assert read.stderr == f"ottla consume: {reported}"
    done = ottla("produce", "waiting", "-p", "1", "two", "--timeout", "3", environment=at)
    assert "partition 1 has no leader" in done.stderr
    described = ottla("groups", "describe", "waiters", environment=at)
    assert "partitions of __consumer_offsets have no leader" in described.stderr
    with start("consume", "waiting", "-n", "1", environment=at) as follower:
        assert follower.stderr is not None
        assert follower.stderr.readline().decode() == (
            "ottla consume: waiting for a leader of waiting-0, waiting-1; see: ottla status\n"
        )
        cluster("start", "1", "3")
        assert follower.communicate(timeout=180)[0] == b"one\n"


def test_a_paused_broker_is_reported_and_can_be_stopped(cluster: ClusterCommand) -> None:
    servers = cluster.bootstrap_servers
    before = json.loads(ottla("status", "--wait", "120", "-b", servers, "--format", "json").stdout)
    paused = 2 if before["controller"] != 2 else 3  # without a controller, nothing is described
    os.kill(cluster.members[f"broker-{paused}"]["pid"], signal.SIGSTOP)
    others = cluster.members["broker-1"]["address"]
    done = ottla("status", "-b", others, "--timeout", "3", "--format", "json")
    status = json.loads(done.stdout)
    assert len(status["brokers"]) == 3
    if status["fenced_brokers"] != [paused]:  # as it is when the session has ended meanwhile
        assert (done.returncode, done.stderr, status["groups"]) == (1, "", None)
    text = ottla("status", "-b", others, "--timeout", "3").stdout
    assert "a broker does not list its groups" in text or "1 broker fenced" in text

    stopped = cluster("stop", str(paused))
    assert (stopped.returncode, stopped.stdout) == (0, f"stopped broker-{paused}\n")


def in_sync(topic: str, command: Command) -> list[list[int]]:
    """The in-sync replicas of partitions that have a leader. It is asked many times."""
    done = command("topics", "describe", topic, "--format", "json", "--timeout", "10")
    return [
        each["in_sync_replicas"] for each in json.loads(done.out or "[{}]")[0].get("partitions", [])
    ]


def test_a_change_without_zookeeper_says_what_it_waits_for(
    cluster: ClusterCommand, command_for: CommandFor
) -> None:
    cluster("kill", "zookeeper-1")
    command = command_for(cluster.bootstrap_servers)
    failed = command("topics", "create", "waits", "--timeout", "1")
    assert failed.code == 1
    assert "accepted the request, but did not respond within 1 s" in failed.err
    assert "ZooKeeper" in failed.err
    refused = cluster("restart", "1")
    assert refused.returncode == 1
    assert "ottla cluster start zookeeper-1" in refused.stderr
    assert cluster.members["broker-1"]["state"] == "running"


def test_a_start_without_zookeeper_says_what_it_waits_for(cluster: ClusterCommand) -> None:
    cluster("stop", "2", "zookeeper-1")
    with start("cluster", "start", "2", "--data", str(cluster.data)) as starting:
        assert starting.stderr is not None
        said: list[bytes] = []
        while not said or b"waiting for ZooKeeper at" not in said[-1]:
            said.append(starting.stderr.readline())
            assert said[-1] != b""
        assert cluster("start", "zookeeper-1").returncode == 0
        output, _ = starting.communicate(timeout=120)
    assert said[-2] == (
        b"ottla cluster start: waiting for broker-2, which is starting; its log ends with:\n"
    )
    assert (starting.returncode, output[:17]) == (0, b"started broker-2 ")


def test_zookeeper_is_started_first_and_stopped_last(cluster: ClusterCommand) -> None:
    stopped = cluster("stop", "zookeeper-1", "2", "3")
    assert stopped.stdout == "stopped broker-2\nstopped broker-3\nstopped zookeeper-1\n"
    started = cluster("start", "2", "zookeeper-1", "3")
    names = [line.split()[1] for line in started.stdout.splitlines()]
    assert names == ["zookeeper-1", "broker-2", "broker-3"]


def test_a_cluster_whose_socket_was_deleted_says_how_to_stop_it(cluster: ClusterCommand) -> None:
    path = cluster.data / "control.socket"
    path.rename(cluster.data / "deleted")
    try:
        refused = cluster("status")
    finally:
        (cluster.data / "deleted").rename(path)
    assert refused.returncode == 1
    assert "control.socket was deleted" in refused.stderr
    assert "Ctrl-C" in refused.stderr


def test_several_are_restarted_in_turn_with_changed_settings(cluster: ClusterCommand) -> None:
    path = cluster.data / "broker-1" / "server.properties"
    path.write_text(path.read_text() + "broker.rack=r1\n")
    before = cluster.pids
    done = cluster("restart", "1", "zookeeper-1")
    assert done.returncode == 0, done.stderr
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["broker-1", "zookeeper-1"]
    assert len(set(before) - set(cluster.pids)) == 2
    status = ottla("status", "-b", cluster.bootstrap_servers, "--wait", "120", "--format", "json")
    assert json.loads(status.stdout)["brokers"][0]["rack"] == "r1"
    stopped = cluster("stop", "broker-1", "3")
    assert stopped.stdout == "stopped broker-1\nstopped broker-3\n"
    assert (cluster.data / "broker-3" / "data" / ".kafka_cleanshutdown").exists()
    assert cluster("start", "1", "3").returncode == 0


def test_commands_work_when_the_file_of_the_state_cannot_be_written(tmp_path: Path) -> None:
    """As on a full disk."""
    cluster = ClusterCommand(tmp_path, "--port", "0", "--brokers", "1")
    pids = cluster.pids
    try:
        (tmp_path / "running.json.new").mkdir()
        stopped = cluster("stop", "1")
        assert stopped.stdout == "stopped broker-1\n", stopped.stderr
        assert not is_alive(pids[1])
        assert cluster("start", "1").returncode == 0
        pids += cluster.pids
        assert cluster("down").returncode == 0
        wait_until_gone(pids)
        code, errors = cluster.end(None)
    finally:
        cluster.process.kill()
    assert code == 0, errors
    assert "Traceback" not in errors
    assert f"{tmp_path}/running.json" in errors


def test_a_broker_that_ends_by_itself_is_reported(cluster: ClusterCommand) -> None:
    pid = cluster.members["broker-3"]["pid"]
    os.kill(pid, signal.SIGKILL)
    errors = cluster.process.stderr
    assert errors is not None
    assert (
        errors.readline()
        .decode()
        .startswith(f"ottla cluster up: broker-3 (process {pid}) was ended by signal 9")
    )
    wait_until(lambda: b"ottla cluster start 3 --data" in errors.readline(), "what to do")
    assert cluster.members["broker-3"] | {"log": ""} == {
        "name": "broker-3", "state": "failed", "pid": None, "exit_code": -9, "log": "",
        "address": cluster.bootstrap_servers.split(",")[2],
    }  # fmt: skip
    assert cluster("start", "3").returncode == 0


def test_a_broker_that_does_not_start_says_why(cluster: ClusterCommand) -> None:
    path = cluster.data / "broker-2" / "server.properties"
    before = path.read_text()
    assert cluster("stop", "2").returncode == 0
    path.write_text(before + "log.segment.bytes=many\n")
    failed = cluster("start", "2")
    assert failed.returncode == 1
    assert "broker-2 (process" in failed.stderr
    assert "ended with exit code 2" in failed.stderr
    assert "log.segment.bytes" in failed.stderr
    path.write_text(before)
    assert cluster("start", "2").returncode == 0


def test_a_second_up_is_refused_and_says_what_to_do(cluster: ClusterCommand) -> None:
    refused = cluster("up")
    assert refused.returncode == 1
    assert f"the cluster in {cluster.data} is running already" in refused.stderr
    assert f"ottla cluster down --data {cluster.data}" in refused.stderr
    assert cluster("status").returncode == 0


def test_an_unknown_id_is_answered_with_the_known_ones(cluster: ClusterCommand) -> None:
    refused = cluster("stop", "zookeeper-2")
    assert refused.returncode == 1
    assert "no member zookeeper-2; did you mean zookeeper-1?" in refused.stderr
    assert "it has zookeeper-1, 1, 2, 3" in refused.stderr


def test_members_that_cannot_be_changed_do_not_keep_the_others_from_it(
    cluster: ClusterCommand,
) -> None:
    killed = cluster("kill", "2", "2", "9", "3")
    assert (killed.returncode, killed.stdout) == (1, "killed broker-2\nkilled broker-3\n")
    assert "the cluster has no member 9" in killed.stderr
    started = cluster("start", "1", "2", "3")
    assert started.returncode == 1
    assert [line.split()[:2] for line in started.stdout.splitlines()] == [
        ["started", "broker-2"],
        ["started", "broker-3"],
    ]
    assert "broker-1 is running already" in started.stderr
    restarted = cluster("restart", "--force", "9", "1")
    assert (restarted.returncode, restarted.stdout) == (1, "")
    assert "  not tried: 1\n" in restarted.stderr


def test_the_socket_survives_what_is_no_request(cluster: ClusterCommand) -> None:
    for line in (b"\n", b"{\n", b"[]\n", b'{"do": "dance"}\n', b'{"do": "kill"}\n', b"9" * 9000):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.path.relpath(cluster.data / "control.socket"))
            connection.sendall(line)
            assert b"error" in connection.recv(4096)
    assert cluster("status").returncode == 0


# A cluster for each of these


def require_clean_shutdowns(cluster: ClusterCommand) -> None:
    """Brokers had ZooKeeper until they ended."""
    for log in sorted(cluster.data.glob("broker-*/broker.log")):
        assert (log.parent / "data" / ".kafka_cleanshutdown").exists()
        warnings = [line for line in log.read_text().splitlines() if " WARNING " in line]
        assert [line for line in warnings if " kazoo" in line or "without handing" in line] == []


def test_ctrl_c_ends_brokers_first_and_the_same_cluster_starts_again(tmp_path: Path) -> None:
    running = ClusterCommand(tmp_path / "c", "--port", "0", "--brokers", "2", "--zookeepers", "3")
    pids = running.pids
    assert len(pids) == 5
    code, errors = running.end(signal.SIGINT)
    assert (code, errors) == (0, "")
    assert not any(map(is_alive, pids))
    require_clean_shutdowns(running)
    assert not (running.data / "running.json").exists()
    stopped = running("status")
    assert stopped.returncode == 1
    assert f"is not running\n  start it: ottla cluster up --data {running.data}" in stopped.stderr

    again = ClusterCommand(running.data)  # on the same ports, and then killed
    assert again.bootstrap_servers == running.bootstrap_servers
    pids = again.pids
    assert len(pids) == 5
    again.end(signal.SIGKILL)
    wait_until_gone(pids)
    require_clean_shutdowns(again)
    assert "is not running" in again("kill", "1").stderr


def test_up_waits_for_what_a_killed_one_has_left(tmp_path: Path) -> None:
    running = ClusterCommand(tmp_path, "--port", "0", "--brokers", "1")
    pids = running.pids
    broker = running.members["broker-1"]["pid"]
    os.kill(broker, signal.SIGSTOP)  # it cannot end before it is resumed
    running.end(signal.SIGKILL)
    with start("cluster", "up", "--data", str(tmp_path)) as again:
        assert again.stderr is not None
        assert again.stdout is not None
        said = again.stderr.readline().decode()
        os.kill(broker, signal.SIGCONT)
        ready = again.stdout.readline().decode()
        again.send_signal(signal.SIGTERM)
        _, errors = again.communicate(timeout=120)
    assert f"broker-1 (process {broker})" in said
    assert said.endswith(" of the last run to end\n")
    assert ready == f"ottla cluster is ready on {running.bootstrap_servers}\n", errors
    wait_until_gone(pids)


def test_down_ends_it_and_an_up_that_fails_leaves_no_process(tmp_path: Path) -> None:
    running = ClusterCommand(tmp_path, "--port", "0", "--brokers", "1")
    down = running("down")
    assert down.stdout == f"stopped the cluster in {tmp_path}\n"
    assert running.end(None) == (0, "")
    (address,) = running.bootstrap_servers.split(",")
    with socket.create_server(("127.0.0.1", int(address.rpartition(":")[2]))):
        used = running("up")
    assert used.returncode == 1
    assert f"port {address.rpartition(':')[2]} is in use by process {os.getpid()}" in used.stderr
    assert "change listeners" in used.stderr
    log = running.data / "broker-1" / "broker.log"
    log.rename(log.with_suffix(".old"))
    log.mkdir()
    unwritable = running("up")
    assert unwritable.returncode == 1
    assert f"broker-1 cannot be started: {log}: Is a directory" in unwritable.stderr
    log.rmdir()
    path = running.data / "broker-1" / "server.properties"
    path.write_text(path.read_text() + "num.partitions=none\n")
    failed = running("up")
    assert failed.returncode == 1
    assert "broker-1 (process" in failed.stderr
    assert "num.partitions" in failed.stderr
    assert not (running.data / "running.json").exists()
    server = json.loads((running.data / "cluster.json").read_text())["zookeepers"]["1"]["client"]
    with socket.create_server(("127.0.0.1", server)):
        pass  # ZooKeeper has ended as well


# Without a cluster


@pytest.mark.parametrize("verb", ["status", "down", "start", "stop", "kill", "restart"])
def test_without_a_cluster_commands_say_how_to_start_one(verb: str, tmp_path: Path) -> None:
    words = [] if verb in ("status", "down") else ["1"]
    failed = ottla("cluster", verb, *words, "--data", str(tmp_path / "none"))
    assert failed.returncode == 1
    assert f"there is no cluster in {tmp_path}/none" in failed.stderr
    assert f"start one: ottla cluster up --data {tmp_path}/none" in failed.stderr
    assert not (tmp_path / "none").exists()


def test_a_port_in_use_is_named_before_anything_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        failed = ottla("cluster", "up", "--data", str(tmp_path), "--port", str(port - 1))
    assert failed.returncode == 1
    assert f"port {port} is in use by process {os.getpid()}" in failed.stderr
    assert "choose another first port: --port PORT" in failed.stderr
    assert os.listdir(tmp_path) == ["cluster.lock"]


def test_without_java_it_says_what_to_install(tmp_path: Path) -> None:
    data = str(tmp_path / "c")
    failed = ottla("cluster", "up", "--data", data, environment={"PATH": str(tmp_path)})
    assert failed.returncode == 1
    assert "there is no java on the PATH\n  install a Java runtime" in failed.stderr
    assert not Path(data).exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "file"], "--data file: Not a directory"),
        (["--data", "other"], "--data other: not the directory of a cluster: it contains meta.pro"),
        (["--data", "damaged"], "cluster.json is damaged"),
        (["--data", "moved"], "this cluster was created as /elsewhere"),
        (["--brokers", "0"], "--brokers: 0 is not between 1 and 100"),
        (["--zookeepers", "2"], "--zookeepers: invalid choice: 2"),
        (["--port", "65535"], "--port 65535: the last ports are above 65535"),
        (["--jars", "other"], "there is no zookeeper-*.jar in it"),
    ],
)
def test_what_cannot_be_done_is_said(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    for name, file, text in (
        ("other", "meta.properties", "version=1\n"),
        ("damaged", "cluster.json", "{}"),
        ("moved", "cluster.json",
         '{"directory": "/elsewhere", "broker_ports": {"1": 1}, "zookeepers": {}}'),
    ):  # fmt: skip
        Path(name).mkdir()
        Path(name, file).write_text(text)
    failed = ottla("cluster", "up", *options)
    assert failed.returncode in (1, 2)
    assert message in failed.stderr
    assert "Traceback" not in failed.stderr
