"""What people do by mistake: the program says what happened, with the exit code for it."""

from __future__ import annotations

import os
import signal

import pytest
from tests.integration.cli.ottla_command import ottla, start

from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("command-line")
Environment = dict[str, str]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["topics", "list", "none*"], "ottla topics list: no topic matches none*\n"),
        (["topics", "list", "*", ""], "ottla topics list: no topic matches ''\n"),
        (["groups", "list", "none*", "no?"],
         "ottla groups list: no group matches none*\nottla groups list: no group matches no?\n"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)  # fmt: skip
def test_patterns_of_a_list_that_match_nothing_are_named(
    environment: Environment, topic: str, words: list[str], told: str
) -> None:
    done = ottla(*words, environment=environment)
    assert (done.returncode, done.stderr) == (0, told)
    document = ottla(*words, "--format", "json", environment=environment)
    assert (document.returncode, document.stderr) == (0, told)


def test_an_empty_cluster_is_said_to_be_empty() -> None:
    with RunningBroker() as broker:
        given = {"OTTLA_BOOTSTRAP": broker.bootstrap_servers}
        assert ottla("topics", "list", environment=given).stderr == (
            "ottla topics list: there are no topics\n"
        )
        assert ottla("groups", "list", environment=given).stderr == (
            "ottla groups list: there are no groups\n"
        )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["up", "--data", ""], "ottla up: --data: the name is empty"),
        (["up", "--config", ""], "ottla up: --config: the name is empty"),
        (["zookeeper", "--data", ""], "ottla zookeeper: --data: the name is empty"),
        (["consume", "t", "-o", ""], "--offset '' is not an offset range: try start"),
        (["consume", "t", "--header", ""], "--header '': expected NAME or NAME=VALUE"),
        (["consume", "t", "--header", "=x"], "--header =x: expected NAME or NAME=VALUE"),
        (["consume", "t", "-f", ""], "--format '': expected text, json, yaml or a template"),
        (["produce", "t", "-f", ""], "--format '': expected json, json-values or a template"),
        (["produce", "t", "@"], "@: the name of a file is missing"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_empty_values_are_refused_and_not_taken_for_the_default(
    words: list[str], told: str
) -> None:
    done = ottla(*words)
    assert done.returncode == 2
    assert told in done.stderr


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ("{}:", "--topic {}:: expected TOPIC or TOPIC:0,1 with numbers of partitions"),
        ("{}:x", "--topic {}:x: expected TOPIC or TOPIC:0,1"),
        ("{}:0,", "--topic {}:0,: expected TOPIC or TOPIC:0,1"),
        ("{}:1", "--topic {}:1: partitions are 0 to 0"),
        ("{}*", "patterns are not accepted here: {}*"),
    ],
)
def test_partitions_to_reset_are_never_more_than_was_written(
    environment: Environment, topic: str, group: str, chosen: str, told: str
) -> None:
    words = ("groups", "reset", group, "--to", "start", "--topic", chosen.format(topic))
    done = ottla(*words, environment=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert told.format(topic, topic) in done.stderr


def test_a_group_is_not_advised_to_be_set_to_a_range(environment: Environment) -> None:
    done = ottla("consume", "t", "-g", "g", "-o", "0:1", environment=environment)
    assert (done.returncode, "groups reset" in done.stderr) == (2, False)
    done = ottla("consume", "t", "-g", "g", "-o", "17", environment=environment)
    assert "ottla groups reset g --to 17" in done.stderr


@pytest.mark.parametrize("form", [[], ["-f", "json"]], ids=["text", "json"])
def test_an_empty_input_is_said_to_be_empty(
    environment: Environment, topic: str, form: list[str]
) -> None:
    done = ottla("produce", topic, *form, environment=environment)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "ottla produce: the input is empty: 0 records were sent\n"
    quiet = ottla("produce", topic, *form, "-o", "none", environment=environment)
    assert (quiet.returncode, quiet.stderr) == (0, "")


def test_carriage_returns_are_kept_and_reported_with_the_format_for_such_lines(
    environment: Environment, topic: str
) -> None:
    lines = b"a:1\r\nb:2\r\n"
    kept = ottla("produce", topic, stdin=lines, environment=environment)
    assert kept.returncode == 0
    assert "line 1 ends with a carriage return, which is kept" in kept.stderr
    assert r"--format '%v\r\n'" in kept.stderr
    keyed = ottla("produce", topic, "-K", ":", stdin=lines, environment=environment)
    assert r"--format '%k:%v\r\n'" in keyed.stderr
    for template in (r"%v\r\n", r"%k:%v\r\n"):
        done = ottla("produce", topic, "-f", template, stdin=lines, environment=environment)
        assert (done.returncode, done.stderr) == (0, "")
    read = ottla("consume", topic, "-e", "-f", r"%k|%v{hex}\n", environment=environment)
    assert read.stdout.splitlines() == [
        "|613a310d", "|623a320d", "a|310d", "b|320d", "|613a31", "|623a32", "a|31", "b|32",
    ]  # fmt: skip


def test_what_is_not_json_is_said_once(environment: Environment, topic: str) -> None:
    done = ottla("produce", topic, "-f", "json-values", stdin="NaN\n", environment=environment)
    assert done.returncode == 1
    assert "line 1: not JSON: NaN is not a JSON number\n" in done.stderr


def test_a_topic_that_is_created_again_under_a_reader_is_explained(
    environment: Environment, topic: str
) -> None:
    ottla("produce", topic, "one", environment=environment)
    with start("consume", topic, environment=environment) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"one\n"
        ottla("topics", "delete", topic, environment=environment)
        ottla("topics", "create", topic, environment=environment)
        _, err = reader.communicate(timeout=120)
    assert reader.returncode == 1
    assert f"partition 0 of {topic} no longer has offset 1" in err.decode()
    assert "the topic was deleted and created again" in err.decode()


COMMANDS_THAT_CONNECT = (
    "groups list",
    "groups describe g",
    "groups delete g",
    "groups reset g --to end --topic t",
    "topics list",
    "topics describe t",
    "topics create t",
    "produce t x",
    "consume t -e",
    "consume t -e -g g",
    "status",
)


def test_a_broker_that_does_not_respond_is_no_traceback() -> None:
    with RunningBroker() as broker:
        broker.pause()
        given = {"OTTLA_BOOTSTRAP": broker.bootstrap_servers}
        started = [
            start(*words.split(), "--timeout", "1", environment=given)
            for words in COMMANDS_THAT_CONNECT
        ]
        told = [each.communicate(timeout=120)[1].decode() for each in started]
        broker.resume()
    reason = f"{broker.bootstrap_servers} accepts connections, but did not respond within 1 s"
    for words, each, text in zip(COMMANDS_THAT_CONNECT, started, told, strict=True):
        assert (each.returncode, reason in text, "Traceback" in text) == (1, True, False), words


def test_a_group_that_cannot_be_joined_is_reported() -> None:
    with RunningBroker(controls=True) as broker:
        given = {"OTTLA_BOOTSTRAP": broker.bootstrap_servers}
        assert ottla("produce", "t", "x", environment=given).returncode == 0
        broker.faults.fail("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", times=None)
        words = ("consume", "t", "-g", "g", "-e", "--timeout", "2")
        with start(*words, environment=given) as reader:
            assert reader.stderr is not None
            told = os.read(reader.stderr.fileno(), 10_000).decode()
            reader.send_signal(signal.SIGINT)
            reader.communicate(timeout=120)
    assert "ottla consume: the group was not joined within 2 s; waiting for its coord" in told
    assert reader.returncode == 130
