"""Commands as processes: signals, closed streams, other encodings, and arguments of all kinds."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.cli.conftest import Command
from tests.integration.cli.ottla_command import clean_environment, ottla, start
from tests.support.waiting import wait_until

pytestmark = pytest.mark.xdist_group("command-line")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_a_signal_commits_what_was_printed_and_leaves_the_group(
    environment: dict[str, str], command: Command, topic: str, group: str, number: int, code: int
) -> None:
    command("produce", topic, "one", "two")
    with start("consume", topic, "-g", group, environment=environment) as reader:
        assert reader.stdout is not None
        assert [reader.stdout.readline() for _ in range(2)] == [b"one\n", b"two\n"]
        reader.send_signal(number)
        _, err = reader.communicate(timeout=120)
    assert (reader.returncode, err) == (code, b"")
    (reported,) = command("groups", "describe", group, "--format", "json").document
    assert (reported["state"], reported["members"], reported["lag"]) == ("Empty", [], 0)


@pytest.mark.parametrize(
    "options",
    [(), ("--tail", "2", "--follow"), ("--group",), ("--grep", "one")],
    ids=["all", "tail", "group", "grep"],
)
def test_reading_ends_when_the_reader_of_its_output_has_ended(
    environment: dict[str, str], command: Command, topic: str, group: str, options: tuple[str, ...]
) -> None:
    """As `head -1` does; no further record comes that a write could fail for."""
    command("produce", topic, "one", "two")
    words = (*options, group) if options == ("--group",) else options
    with start("consume", topic, *words, environment=environment) as reader:
        try:
            assert reader.stdout is not None
            assert reader.stdout.readline() == b"one\n"
            reader.stdout.close()
            assert reader.wait(timeout=60) == 0
            assert reader.stderr is not None
            assert reader.stderr.read() == b""
        finally:
            reader.kill()


def test_a_topic_that_is_deleted_ends_the_reading(
    environment: dict[str, str], command: Command, topic: str
) -> None:
    command("produce", topic, "one")
    with start("consume", topic, environment=environment) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"one\n"
        command("topics", "delete", topic)
        _, err = reader.communicate(timeout=120)
    assert (reader.returncode, err.decode()) == (1, f"ottla consume: topic {topic} was deleted\n")


def test_escape_sequences_do_not_reach_a_terminal(
    environment: dict[str, str], command: Command, topic: str
) -> None:
    command("produce", topic, stdin=b"\x1b]0;title\x07 \xff k\xc3\xa4se\n")
    ours, theirs = pty.openpty()
    words = ("consume", topic, "-e")
    with start(*words, environment=environment, stdout=theirs) as reader:
        reader.communicate(timeout=120)
    os.close(theirs)
    shown = os.read(ours, 1000)
    os.close(ours)
    assert shown == "\\x1b]0;title\\x07 \\xff käse\r\n".encode()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["topics", "create", "t", "-p", "1000000"], "--partitions: 1000000 is not between"),
        (["topics", "create", "t", "-p", "100001"], "--partitions: 100001 is not between"),
        (["topics", "create", "t", "-r", "99999999"], "99999999 is not between 1 and 10000"),
        (["topics", "alter", "t", "-p", "0"], "--partitions: 0 is not between 1 and 100000"),
        (["topics", "create"], "name a topic"),
        (["consume", "t", "-g", ""], "--group: the name of a group is not empty"),
        (["groups", "describe", ""], "the name of a group is not empty"),
        (["groups", "reset", "", "--to", "end"], "the name of a group is not empty"),
        (["consume", "t", "-p", "-1"], "--partition: -1 is not between"),
        (["produce", "t", "-p", "99999999999", "x"], "--partition: 99999999999 is not between"),
        (["topics", "list", "-b", "http://localhost:9092"], "expected HOST:PORT without http://"),
        (["topics", "list", "-b", "localhost:99999"], "ports are 1 to 65535"),
        (["topics", "list", "-b", "9092"], "9092 is not HOST:PORT; did you mean localhost:9092?"),
        (["topics", "list", "-b", "x:1", "-b", "y:2"], "given twice; for several separate them"),
        (["status", "--wait", "inf"], "--wait: 'inf' is not a number of seconds"),
        (["up", "--log-level", "loud"], "--log-level: invalid choice: 'LOUD'"),
    ],
    ids=" ".join,
)
def test_arguments_out_of_range_are_refused_before_anything_is_asked(
    words: list[str], reason: str
) -> None:
    refused = ottla(*words)
    assert refused.returncode == 2
    assert reason in refused.stderr
    assert "Traceback" not in refused.stderr


def shell(script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """`$OTTLA` is the command."""
    return subprocess.run(
        ["sh", "-c", script],
        env={
            **clean_environment(),
            **environment,
            "OTTLA": f"{sys.executable} -m ottla.cli.main",
        },
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_a_closed_output_is_an_error_and_not_a_traceback(
    environment: dict[str, str], topic: str
) -> None:
    for words in ("topics list", f"consume {topic} -e -f json", "version", "status"):
        done = shell(f"$OTTLA produce {topic} x >/dev/null; $OTTLA {words} >&-", environment)
        assert done.returncode == 1, words
        assert done.stderr.endswith("the output cannot be written: Bad file descriptor\n"), words
    done = shell("$OTTLA topics list nothing* 2>&-", environment)
    assert (done.returncode, done.stdout) == (0, "TOPIC  PARTITIONS  REPLICAS\n")


@pytest.mark.parametrize("given", ["<&-", "0>/dev/null"], ids=["closed", "only for writing"])
def test_an_input_that_cannot_be_read_is_an_error(
    environment: dict[str, str], topic: str, given: str
) -> None:
    """It is not empty: the records that were meant are not written."""
    done = shell(f"$OTTLA produce {topic} {given}", environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "ottla produce: standard input cannot be read: Bad file descriptor\n  0 records were sent\n"
    )
    assert shell(f"$OTTLA produce {topic} value {given}", environment).returncode == 0


NONBLOCKING = """
import os, subprocess, sys
read_end, write_end = os.pipe()
given = read_end if sys.argv[1] == "stdin" else write_end
os.set_blocking(given, False)
with subprocess.Popen(sys.argv[2:], **{sys.argv[1]: given}) as command:
    os.close(given)
    if given == read_end:
        while not os.path.exists(f"/proc/{command.pid}/task") or command.poll() is None:
            # Only once the command waits for its input.
            if "librdkafka" in open(f"/proc/{command.pid}/maps").read():
                break
        os.write(write_end, b"one\\ntwo\\n")
        os.close(write_end)
    else:
        os.write(1, open(read_end, "rb").read())
sys.exit(command.returncode)
"""


def test_streams_that_another_process_made_nonblocking_are_waited_for(
    environment: dict[str, str], topic: str
) -> None:
    """As Node.js and ssh do with those that they share. A pipe holds 64 KiB."""

    def run(stream: str, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", NONBLOCKING, stream, sys.executable, "-m", "ottla.cli.main",
             *words],
            env={**clean_environment(), **environment}, capture_output=True, text=True,
            timeout=180, check=False,
        )  # fmt: skip

    written = run("stdin", "produce", topic)
    assert written.stdout == f"2 records to partition 0 of {topic}, offsets 0 to 1\n"
    lines = "".join(f"line {number}\n" for number in range(30_000))
    assert ottla("produce", topic, stdin=lines, environment=environment).returncode == 0
    read = run("stdout", "consume", topic, "-e")
    assert (read.returncode, read.stderr) == (0, "")
    assert read.stdout == "one\ntwo\n" + lines


def test_what_the_output_cannot_encode_is_escaped(
    environment: dict[str, str], command: Command, topic: str
) -> None:
    command("consume", topic, "-g", "käse", "-e")
    done = ottla("groups", "list", environment={**environment, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert "k\\xe4se" in done.stdout


def test_ctrl_c_while_modules_are_imported_is_quiet(tmp_path: Path) -> None:
    """A module of the client library that takes its time."""
    package = tmp_path / "confluent_kafka"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import pathlib, time\n"
        f"pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n"
        "time.sleep(100)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    server = subprocess.Popen(
        [sys.executable, "-c",
         "import socket; s = socket.create_server(('127.0.0.1', 0));"
         "print(s.getsockname()[1], flush=True); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with server:
        assert server.stdout is not None
        address = f"127.0.0.1:{server.stdout.readline().strip()}"
        with start("topics", "list", "-b", address, environment={"PYTHONPATH": path}) as listing:
            wait_until((tmp_path / "begun").exists, "the import")
            listing.send_signal(signal.SIGINT)
            out, err = listing.communicate(timeout=120)
    assert (listing.returncode, out, err) == (130, b"", b"")


def test_a_missing_event_loop_is_named(tmp_path: Path) -> None:
    (tmp_path / "uvloop.py").write_text("raise ModuleNotFoundError('no uvloop', name='uvloop')\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    words = ("up", "--loop", "uvloop", "--listen", "127.0.0.1:0", "--data", str(tmp_path / "d"))
    failed = ottla(*words, environment={"PYTHONPATH": path})
    assert failed.returncode == 2
    assert failed.stderr == (
        "ottla up: uvloop is not installed: pip install uvloop, or leave out --loop\n"
    )


def test_completion_offers_commands_and_options() -> None:
    script = ottla("completion", "bash").stdout
    questions = """
    ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ottla; echo "${COMPREPLY[@]}"; }
    ask ottla con; ask ottla topics cr; ask ottla group re
    ask ottla topics create t --part; ask ottla consume x --fr
    ask ottla produce t -z s; ask ottla consume t --isolation read_c; ask ottla completion z
    ask ottla help gr; ask ottla --v; ask ottla up --data x
    ask ottla produce t --acks =; ask ottla topics list --format = j
    """
    done = subprocess.run(
        ["bash", "-c", script + questions], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "consume", "create", "reset", "--partitions", "--from-beginning",
        "snappy", "read_committed", "zsh", "groups", "--version", "", "all 1 0", "json",
    ]  # fmt: skip
    fish = ottla("completion", "fish").stdout
    assert "-a produce" in fish
    assert "-s z -l compression -x -a 'none gzip snappy lz4 zstd'" in fish
    assert "-l config -r -F -d" in fish
    assert "bashcompinit" in ottla("completion", "zsh").stdout


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_offers_what_fits_the_words_before(tmp_path: Path) -> None:
    script = tmp_path / "ottla.fish"
    script.write_text(ottla("completion", "fish").stdout)
    (tmp_path / "orders.yaml").touch()

    def offered(line: str) -> list[str]:
        done = subprocess.run(
            ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"],
            capture_output=True, text=True, check=True, cwd=tmp_path,
        )  # fmt: skip
        return [each.partition("\t")[0] for each in done.stdout.splitlines()]

    assert offered("ottla con") == ["consume"]
    assert offered("ottla group re") == ["reset"]
    assert offered("ottla help topics l") == ["list"]
    assert offered("ottla --v") == ["--version"]
    assert offered("ottla pipeline run ord") == ["orders.yaml"]
    assert offered("ottla topics list --format=j") == ["--format=json"]
    # `up` and `cluster up` have different options, and a topic may be named as a command.
    assert offered("ottla cluster up --li") == []
    assert offered("ottla up --li") == ["--listen"]
    assert offered("ottla produce up --li") == []
    assert offered("ottla topics delete create --par") == []


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_the_script_for_zsh_loads_the_functions_that_it_needs(tmp_path: Path) -> None:
    script = tmp_path / "ottla.zsh"
    script.write_text(ottla("completion", "zsh").stdout)
    ask = "COMP_WORDS=(ottla produce t --acks=a); COMP_CWORD=3; setopt ksharrays; _ottla"
    done = subprocess.run(
        ["zsh", "-f", "-c", f"source {script} && print -r -- $_comps[ottla]; {ask};"
         "print -r -- $COMPREPLY"],
        capture_output=True, text=True, check=True, env=os.environ | {"HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["_bash_complete -o default -F _ottla", "--acks=all"]
