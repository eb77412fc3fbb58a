"""`ottla up` as a process: starting, stopping, and what it says when it cannot start."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.cli.ottla_command import clean_environment, ottla, start

from ottla.cli.local_cluster.directory import ClusterDirectory
from ottla.testing.broker import RunningBroker


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    with RunningBroker() as running:
        yield running


def create_topic(broker: RunningBroker, name: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(name, 1)])[name].result(120)


def topics(broker: RunningBroker) -> set[str]:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    return set(admin.list_topics(timeout=120).topics)


def test_a_port_in_use_is_named_together_with_the_process_that_has_it(
    broker: RunningBroker, tmp_path: Path
) -> None:
    done = ottla("up", "--listen", broker.bootstrap_servers, "--data", str(tmp_path / "data"))
    assert done.returncode == 1
    assert f"listener PLAINTEXT on {broker.bootstrap_servers}" in done.stderr
    assert f"is used by process {broker.pid} (" in done.stderr
    assert "--listen" in done.stderr


def test_a_second_broker_on_the_same_directory_says_who_has_it_and_harms_nothing() -> None:
    with RunningBroker() as broker:
        create_topic(broker, "before")
        done = ottla("up", "--listen", "127.0.0.1:0", "--data", str(broker.data))
        assert done.returncode == 1
        assert f"{broker.data} is in use by process {broker.pid} (" in done.stderr
        create_topic(broker, "after")
        broker.restart()
        assert {"before", "after"} <= topics(broker)


def test_the_directory_of_another_node_is_refused_with_both_ways_out(tmp_path: Path) -> None:
    with RunningBroker(data=tmp_path, config={"node.id": "3"}) as broker:
        broker.stop()
    done = ottla("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path))
    assert done.returncode == 1
    assert f"{tmp_path} belongs to node 3, and this is node 1" in done.stderr
    assert "--set node.id=3" in done.stderr
    assert "--data" in done.stderr


def test_the_directory_of_a_local_cluster_is_refused_and_not_changed(tmp_path: Path) -> None:
    (tmp_path / "broker-1" / "data").mkdir(parents=True)
    ClusterDirectory(str(tmp_path)).description_path.write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    done = ottla("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{tmp_path} is the directory of a local cluster, not of a broker" in done.stderr
    assert f"ottla cluster up --data {tmp_path}" in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_damaged_metadata_is_reported_with_its_place(tmp_path: Path) -> None:
    with RunningBroker(data=tmp_path) as broker:
        broker.stop()
    (journal,) = (tmp_path / ".metadata").glob("*.journal")
    content = bytearray(journal.read_bytes())
    content[len(content) // 2] ^= 0xFF
    journal.write_bytes(content)
    done = ottla("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path))
    assert done.returncode == 1
    assert str(journal) in done.stderr
    assert "the file is damaged" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_that_cannot_be_used_are_all_named() -> None:
    done = ottla("up", "--set", "num.partitons=3", "--set", "log.segment.bytes=many")
    assert done.returncode == 2
    assert "num.partitons: no such setting; did you mean num.partitions?" in done.stderr
    assert "log.segment.bytes" in done.stderr


def test_a_configuration_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path, reason in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        done = ottla("up", "--config", str(path))
        assert done.returncode == 2
        assert done.stderr.startswith(f"ottla up: --config {path}: {reason}")


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT], ids=lambda name: name.name)
def test_a_signal_stops_it_cleanly(name: signal.Signals) -> None:
    with RunningBroker() as broker:
        os.kill(broker.pid, name)
        assert broker.wait_for_end() == 0
        assert (broker.data / ".kafka_cleanshutdown").exists()


def test_it_ends_with_the_standard_input_of_whoever_started_it(tmp_path: Path) -> None:
    words = ["up", "--listen", "127.0.0.1:0", "--data", str(tmp_path), "--stop-with-stdin"]
    with subprocess.Popen(
        [sys.executable, "-m", "ottla.cli.main", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"ottla is ready on 127.0.0.1:")
        process.stdin.close()
        assert process.wait(120) == 0


def test_a_broker_that_has_lost_its_last_directory_ends(tmp_path: Path) -> None:
    """A supervisor may start it again, as with Apache Kafka."""
    logs = tmp_path / "logs"
    with RunningBroker(config={"log.dirs": str(logs)}) as broker:
        create_topic(broker, "before")
        shutil.rmtree(logs)
        admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
        admin.create_topics([NewTopic("after", 1)])  # whatever is answered
        assert broker.wait_for_end() == 1
        assert "ottla up: cannot continue: " in broker.log  # its records and its metadata are gone
        assert str(logs) in broker.log
        assert "start the broker again" in broker.log
        assert "Traceback" not in broker.log


def test_a_missing_directory_is_reported_when_the_broker_stops(tmp_path: Path) -> None:
    data = tmp_path / "data"
    words = ["up", "--listen", "127.0.0.1:0", "--data", str(data)]
    with subprocess.Popen(
        [sys.executable, "-m", "ottla.cli.main", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("ottla is ready on 127.0.0.1:")
        shutil.rmtree(data)
        process.send_signal(signal.SIGTERM)
        _, reported = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "the shutdown was not clean, and the next start cannot recover it" in reported
    assert "Traceback" not in reported


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_it_serves_on_either_event_loop(loop: str, tmp_path: Path) -> None:
    if loop == "uvloop":
        pytest.importorskip("uvloop")
    with RunningBroker(arguments=["--loop", loop]) as broker:
        host, port = broker.bootstrap_servers.rsplit(":", 1)
        socket.create_connection((host, int(port)), 120).close()
        create_topic(broker, "t")
        assert "t" in topics(broker)


def test_it_takes_all_the_descriptors_it_may_have(broker: RunningBroker) -> None:
    lines = Path(f"/proc/{broker.pid}/limits").read_text().splitlines()
    (soft, hard) = next(line.split()[3:5] for line in lines if line.startswith("Max open files"))
    assert soft == hard


def test_what_is_in_use_is_reported_before_the_broker_is_loaded(
    broker: RunningBroker, tmp_path: Path
) -> None:
    """Modules of the broker are loaded after that, and nothing is created for it."""
    used_port = ("--listen", broker.bootstrap_servers, "--data", str(tmp_path / "data"))
    used_directory = ("--listen", "127.0.0.1:0", "--data", str(broker.data))
    for words, reason in ((used_port, "Address already in use"), (used_directory, "is in use by")):
        done = ottla("up", *words, environment={"PYTHONPROFILEIMPORTTIME": "1"})
        assert done.returncode == 1
        assert reason in done.stderr
        assert "ottla.config.load" in done.stderr
        assert "ottla.broker" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_an_id_that_is_no_number_is_reported_once(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    for name in ("broker.id", "node.id"):
        file.write_text(f"{name}=abc\n")
        done = ottla("up", "--config", str(file))
        assert done.returncode == 2
        assert done.stderr == (
            f"ottla up: {file}: Invalid value abc for configuration {name}: "
            "Not a number of type INT\n"
        )
    file.write_text("broker.id=abc\nnode.id=def\n")
    assert len(ottla("up", "--config", str(file)).stderr.splitlines()) == 2


def test_settings_without_a_directory_are_refused(tmp_path: Path) -> None:
    """Records would go to the default directory of Kafka's settings, in /tmp."""
    file = tmp_path / "server.properties"
    file.write_bytes(b"\xef\xbb\xbflog.dirs=\n")  # with a byte order mark, as editors may write it
    for words, place in ((("--config", str(file)), str(file)), (("--set", "log.dirs= "), "--set")):
        done = ottla("up", "--listen", "127.0.0.1:0", *words)
        assert done.returncode == 2
        assert done.stderr == f"ottla up: {place}: log.dirs: no directory is named\n"


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--listen", "1", "--listen", "2"], "--listen: given twice; for several use --set listen"),
        (["--listen", "a:1,b:2"], "--listen: 'a:1,b:2' is not HOST:PORT"),
        (["--data", "a", "--data", "b"], "--data: given twice; for several separate them by comma"),
        (["--data", "a,./a"], "/a is given twice"),
        (["--data", "a,"], "--data: the name is empty"),
        (["--config", "/dev/zero"], "--config /dev/zero: larger than 1048576 bytes"),
        (["--listen", "1", "--set", "listeners=A://x:2"], "--listen and --set listeners say the"),
        (["--data", "a", "--set", "log.dir=b"], "--data and --set log.dir say the same: give one"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_arguments_that_cannot_be_meant_are_refused(words: list[str], reported: str) -> None:
    done = ottla("up", *words)
    assert done.returncode == 2
    assert reported in done.stderr


@pytest.mark.parametrize(
    ("variables", "words", "chosen"),
    [
        ({}, ["--set", "log.dir=chosen"], "chosen"),
        ({"OTTLA_LOG_DIRS": "chosen"}, [], "chosen"),
        ({"OTTLA_LOG_DIR": "chosen"}, [], "chosen"),
        ({"OTTLA_LOG_DIRS": "other"}, ["--set", "log.dir=chosen"], "chosen"),
        ({"OTTLA_LOG_DIRS": "other"}, ["--data", "chosen"], "chosen"),
        ({"OTTLA_LOG_DIR": "chosen"}, ["--config", "in-file"], "chosen"),
        ({}, ["--config", "in-file", "--set", "log.dir=chosen"], "chosen"),
        ({}, [], "ottla-data"),
    ],
    ids=str,
)
def test_records_are_kept_where_the_first_source_says(
    variables: dict[str, str],
    words: list[str],
    chosen: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in-file").write_text("log.dirs=other\n")
    assert started(["--listen", "127.0.0.1:0", *words], variables).startswith("ottla is ready on 1")
    assert {each.name for each in tmp_path.iterdir()} == {"in-file", chosen}


def test_the_environment_chooses_the_listeners(tmp_path: Path) -> None:
    data = ["--data", str(tmp_path)]
    variables = {"OTTLA_LISTENERS": "PLAINTEXT://127.0.0.1:0"}
    assert started(data, variables).startswith("ottla is ready on 127.0.0.1:")


def started(words: list[str], variables: dict[str, str]) -> str:
    """What a broker says that is stopped as soon as it is ready."""
    with start("up", *words, environment=variables) as broker:
        assert broker.stdout is not None
        ready = broker.stdout.readline().decode()
        broker.terminate()
        _, err = broker.communicate(timeout=120)
    assert (broker.returncode, err.decode()) == (0, "")
    return ready


def test_a_log_directory_in_another_one_is_refused(tmp_path: Path) -> None:
    """Its name may be that of a partition."""
    outer, inner = tmp_path / "disks", tmp_path / "disks" / "disk-1"
    done = ottla("up", "--listen", "127.0.0.1:0", "--data", f"{outer},{inner}")
    assert done.returncode == 1
    assert done.stderr == (
        f"ottla up: the log directory {inner} is in the log directory {outer}\n"
        "  give directories of which none is in another one\n"
    )
    assert not outer.exists()
    with RunningBroker(data=inner):
        pass
    done = ottla("up", "--listen", "127.0.0.1:0", "--data", str(outer))
    assert done.returncode == 1
    assert done.stderr == (
        f"ottla up: {outer} is not a data directory, but has one in it\n"
        f"  start it with --data {inner}, or choose another directory with --data DIR\n"
    )
    assert os.listdir(outer) == ["disk-1"]


def test_an_input_that_cannot_be_read_has_ended(tmp_path: Path) -> None:
    with open(os.devnull, "wb") as write_only:
        done = subprocess.run(
            [sys.executable, "-m", "ottla.cli.main", "up", "--listen", "127.0.0.1:0", "--data",
             str(tmp_path), "--stop-with-stdin"],
            stdin=write_only, capture_output=True, timeout=120, check=False,
            env=clean_environment(),
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_file_that_has_no_settings_is_refused_in_readable_text(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"=x\n\x1b[31mred=1\n" + b"".join(b"foo%d\n" % i for i in range(30)))
    done = ottla("up", "--config", str(file))
    assert done.returncode == 2
    assert f"{file}: a setting without a name: =x\n" in done.stderr
    assert "\\x1b[31mred: no such setting" in done.stderr
    assert done.stderr.endswith("and 12 more\n")
    file.write_bytes(b"\x7fELF\0\0")
    done = ottla("up", "--config", str(file))
    assert done.stderr == f"ottla up: {file}: not a file of settings, a line each: name=value\n"


def test_a_misspelt_variable_is_said_to_have_no_effect(tmp_path: Path) -> None:
    words = ("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path))
    with start(*words, environment={"OTTLA_NUM_PARTITONS": "3"}) as broker:
        assert broker.stdout is not None
        broker.stdout.readline()
        broker.terminate()
        _, err = broker.communicate(timeout=120)
    assert err.decode() == (
        "ottla up: the variable OTTLA_NUM_PARTITONS is not a setting of a broker, and has no "
        "effect; did you mean OTTLA_NUM_PARTITIONS?\n"
    )


@pytest.mark.parametrize(
    ("limit", "reported"),
    [("-n 8", "ulimit -n"), ("-f 0", "ulimit -f")],
)
def test_a_limit_of_the_process_is_distinguished_from_lost_metadata(
    limit: str, reported: str, tmp_path: Path
) -> None:
    words = f"up --listen 127.0.0.1:0 --data {tmp_path / 'data'}"
    done = subprocess.run(
        ["sh", "-c", f"ulimit {limit}; exec {sys.executable} -B -m ottla.cli.main {words}"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    assert reported in done.stderr
    assert "restore" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def hangup_by_default() -> Iterator[None]:
    """Children get the default action of SIGHUP, also if these tests run under `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup_by_default")
def test_a_closed_terminal_stops_it_cleanly() -> None:
    with RunningBroker() as broker:
        os.kill(broker.pid, signal.SIGHUP)
        assert broker.wait_for_end() == 0
        assert (broker.data / ".kafka_cleanshutdown").exists()


def test_an_output_that_is_full_is_reported_and_the_broker_serves(tmp_path: Path) -> None:
    words = ["up", "--listen", "127.0.0.1:0", "--data", str(tmp_path), "--stop-with-stdin"]
    with (
        open("/dev/full", "w") as full,
        subprocess.Popen(
            [sys.executable, "-m", "ottla.cli.main", *words],
            stdin=subprocess.PIPE, stdout=full, stderr=subprocess.PIPE, text=True,
            env={name: text for name, text in os.environ.items() if not name.startswith("OTTLA_")},
        ) as process,
    ):  # fmt: skip
        assert process.stdin is not None
        assert process.stderr is not None
        reported = process.stderr.readline()
        process.stdin.close()
        assert process.wait(120) == 0
    assert reported == "ottla up: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_while_zookeeper_does_not_respond(number: int, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings = (
            f"zookeeper.connect=127.0.0.1:{silent.getsockname()[1]}",
            "zookeeper.connection.timeout.ms=600000",
            "zookeeper.session.timeout.ms=600000",
        )
        words = [word for each in settings for word in ("--set", each)]
        with start(
            "up", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "d"), *words
        ) as broker:
            connection, _ = silent.accept()
            with connection:
                assert connection.recv(1024)  # kazoo asks for a session, and waits
                broker.send_signal(number)
                _, err = broker.communicate(timeout=120)
    assert broker.returncode == 128 + number
    assert b"Traceback" not in err
