"""What a new user does in the first hour, each step with the program as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cli.ottla_command import ottla, start

from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("command-line")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(environment: dict[str, str]) -> Run:
    def run(*words: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
        return ottla(*words, stdin=stdin, environment=environment)

    return run


def described(run: Run, group: str) -> Any:
    (group_document,) = json.loads(run("groups", "describe", group, "--format", "json").stdout)
    return group_document


def test_lines_of_json_are_records_only_if_they_say_so(run: Run, topic: str) -> None:
    refused = run("produce", topic, "-f", "json", stdin='{"total": 12}\n')
    assert refused.returncode == 1
    assert "if each line is a value, use --format json-values" in refused.stderr
    assert run("produce", topic, "-f", "json-values", stdin='{"total": 12}\n').returncode == 0
    assert run("consume", topic, "-e").stdout == '{"total": 12}\n'


def test_a_line_in_the_middle_that_is_too_large_is_named(run: Run, topic: str) -> None:
    run("topics", "alter", topic, "-c", "max.message.bytes=2000")
    failed = run("produce", topic, stdin=b"one\n" + b"x" * 5000 + b"\nthree\n")
    assert failed.returncode == 1
    assert "line 2: the record is too large: 5000 bytes" in failed.stderr
    assert f"topic {topic} accepts 2000 (setting max.message.bytes)" in failed.stderr
    assert "2 records were acknowledged; not acknowledged: line 2" in failed.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_what_became_of_a_line_that_was_given_before_the_program_was_ready_is_said(
    run: Run, environment: dict[str, str], topic: str, number: int
) -> None:
    new_topic = f"{topic}-new"
    with start("produce", new_topic, stdin=subprocess.PIPE, environment=environment) as writer:
        assert writer.stdin is not None
        assert writer.stderr is not None
        writer.stdin.write(b"early\n")
        writer.stdin.flush()
        assert b"does not exist: its first record creates it" in writer.stderr.readline()
        writer.send_signal(number)
        err = writer.stderr.read().decode()
        assert writer.wait(120) == 128 + number
    written = run("consume", new_topic, "-e").stdout
    reported = "1 record was acknowledged" if written else "nothing was sent"
    assert (err, written) == (
        f"ottla produce: interrupted: {reported}\n",
        "early\n" if written else "",
    )


def test_what_is_unknown_or_without_effect_is_not_shown_as_success(
    run: Run, topic: str, group: str
) -> None:
    run("topics", "alter", topic, "-p", "2")
    run("produce", topic, "-p", "0", *"abc")
    run("produce", topic, "-p", "1", "d")
    run("groups", "reset", group, "--to", "1", "--topic", f"{topic}:0")
    assert "lag          2, and unknown in 1 partition\n" in run("groups", "describe", group).stdout
    assert described(run, group)["lag"] is None

    refused = run("groups", "reset", group, "--to", "99")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "no partition has offset 99" in refused.stderr

    read = run("consume", topic, "-p", "0", "-g", group, "-o", "start", "-e")
    assert read.returncode == 2
    read = run("consume", topic, "-g", group, "-o", "start", "-e")
    assert sorted(read.stdout.split()) == ["b", "c", "d"]
    assert f"group {group} continues at its committed offsets" in read.stderr
    assert f"to move it: ottla groups reset {group} --to start" in read.stderr

    failed = run("topics", "alter", topic, "--delete-config", "nonsense")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "nonsense: no such topic setting" in failed.stderr


def test_columns_are_aligned_behind_wide_characters(run: Run, topic: str, group: str) -> None:
    run("consume", topic, "-g", group, "-e")
    run("consume", topic, "-g", f"日本-{group}", "-e")
    header, *rows = run("groups", "list", f"*{group}").stdout.splitlines()
    widths = {header.index("STATE"), rows[0].index("Empty"), rows[1].index("Empty") + 2}
    assert len(rows) == 2
    assert len(widths) == 1


def test_options_are_what_hands_know_from_kafkas_tools(
    run: Run, topic: str, group: str, tmp_path: Path
) -> None:
    value = tmp_path / "value"
    value.write_bytes(b"from a file")
    assert run("produce", "--topic", topic, f"@{value}", "@@home").returncode == 0
    read = run("consume", "--topic", topic, "--from-beginning", "--follow", "-n", "2")
    assert read.stdout == "from a file\n@home\n"
    shown = json.loads(run("topics", "describe", f"{topic[:-1]}*", "--format", "json").stdout)
    assert topic in [each["topic"] for each in shown]
    run("groups", "reset", group, "--to", "start", "--topic", topic)
    (listed,) = json.loads(run("groups", "list", group, "--lag", "--format", "json").stdout)
    assert listed["lag"] == 2


def test_the_log_says_more_at_level_info_in_any_case(tmp_path: Path) -> None:
    words = ("up", "--listen", "127.0.0.1:0", "--data", str(tmp_path), "--log-level", "iNFO")
    with start(*words) as broker:
        assert broker.stdout is not None
        address = broker.stdout.readline().decode().split()[-1]
        ottla("topics", "create", "orders", "-p", "2", "-b", address)
        ottla("topics", "delete", "orders", "-b", address)
        broker.terminate()
        _, err = broker.communicate(timeout=120)
    assert broker.returncode == 0
    messages = [line.partition(": ")[2] for line in err.decode().splitlines()]
    expected = ["topic orders was created, partitions: 2", "topic orders was deleted", "stopping",
                "stopped, all files are synced"]  # fmt: skip
    assert messages[0].endswith(f"node 1, data in {tmp_path}, topics: 0, partitions: 0")
    assert [each for each in messages if each in expected] == expected


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    """A directory in its place: the user of these tests may read every file."""
    failed = ottla("up", "--config", str(tmp_path), "--data", str(tmp_path / "data"))
    assert failed.returncode == 2
    assert str(tmp_path) in failed.stderr
    assert "Errno" not in failed.stderr


def test_produce_writes_one_line_as_quickly_as_one_argument(
    run: Run, shared_broker: RunningBroker, topic: str
) -> None:
    """Neither waits for a producer id, for which librdkafka takes half a second."""
    for words, stdin in ((["one"], ""), ([], "two\n")):
        done = run("produce", topic, *words, "-X", "debug=eos", "-X", "log_level=7", stdin=stdin)
        assert done.returncode == 0
        assert "Idempotent" not in done.stderr


def test_the_command_can_be_run_as_a_module() -> None:
    words = [sys.executable, "-m", "ottla", "topics", "--lst"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: ottla topics VERB" in done.stderr
