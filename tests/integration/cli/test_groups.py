from __future__ import annotations

import json
import select
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer
from tests.integration.cli.conftest import Command
from tests.integration.cli.ottla_command import ottla, start

from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("command-line")


@pytest.fixture
def read_topic(command: Command, topic: str, group: str) -> str:
    """Five records, of which the group has read three."""
    command("produce", topic, *"abcde")
    command("consume", topic, "-g", group, "-n", "3")
    return topic


@pytest.fixture
def member(shared_broker: RunningBroker, read_topic: str, group: str) -> Iterator[Consumer]:
    consumer = Consumer(
        {
            "bootstrap.servers": shared_broker.bootstrap_servers,
            "group.id": group,
            "client.id": "a-member",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([read_topic])
    assert consumer.poll(120) is not None
    yield consumer
    consumer.close()


def test_lag_is_shown_for_each_partition(command: Command, read_topic: str, group: str) -> None:
    (reported,) = command("groups", "describe", group, "--format", "json", "--time").document
    assert (reported["state"], reported["lag"], reported["members"]) == ("Empty", 2, [])
    (row,) = reported["partitions"]
    assert row["topic"] == read_topic
    assert (row["committed_offset"], row["end_offset"], row["lag"]) == (3, 5, 2)
    assert row["lag_ms"] >= 0
    assert f"{read_topic}          0" in command("groups", "describe", group).out
    assert "WAITING" in command("groups", "describe", group, "--time").out


def test_members_are_shown_with_what_they_read(
    command: Command, read_topic: str, group: str, member: Consumer
) -> None:
    (reported,) = command("groups", "describe", group, "--format", "json").document
    assert reported["state"] == "Stable"
    assert [each["client_id"] for each in reported["members"]] == ["a-member"]
    assert reported["partitions"][0]["client_id"] == "a-member"
    listed = command("groups", "list", group, "--format", "json").document
    assert listed == [{"group": group, "state": "Stable", "members": 1, "coordinator": 1}]


def test_a_group_in_use_is_not_reset_and_its_members_are_named(
    command: Command, group: str, member: Consumer
) -> None:
    refused = command("groups", "reset", group, "--to", "start")
    assert refused.code == 1
    assert f"group {group} is in use (Stable)" in refused.err
    assert "a-member on" in refused.err
    refused = command("groups", "delete", group)
    assert refused.code == 1
    assert "stop its members first" in refused.err


@pytest.mark.parametrize(
    ("words", "after"),
    [
        (["--to", "start"], 0),
        (["--to", "end"], 5),
        (["--to", "4"], 4),
        (["--to", "+1"], 1),
        (["--to", "-1"], 4),
        (["--to", "@-1h"], 0),
        (["--to", "@4000000000000"], 5),
        (["--shift-by", "-2"], 1),
        (["--shift-by", "9"], 5),
    ],
)
def test_a_group_is_set_to_any_place(
    command: Command, read_topic: str, group: str, words: list[str], after: int
) -> None:
    reported = command("groups", "reset", group, *words, "--format", "json").document
    assert reported == [{"topic": read_topic, "partition": 0, "before": 3, "after": after}]
    rest = command("consume", read_topic, "-g", group, "-e", "-f", "%v")
    assert rest.out == "abcde"[after:]


def test_a_dry_run_only_shows(command: Command, read_topic: str, group: str) -> None:
    reported = command("groups", "reset", group, "--to", "start", "--dry-run")
    assert reported.lines[1].split() == [read_topic, "0", "3", "0"]
    assert command("consume", read_topic, "-g", group, "-e", "-f", "%v").out == "de"


def test_a_new_group_gets_its_first_offsets_for_the_topics_named(
    command: Command, topic: str, group: str
) -> None:
    command("produce", topic, "a", "b")
    reported = command("groups", "reset", group, "--to", "-1", "--topic", f"{topic}:0")
    assert reported.code == 0
    assert command("consume", topic, "-g", group, "-e").lines == ["b"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--to", "start"], "there is no group"),
        (["--to", "99", "--topic", "{topic}"], "no partition has offset 99"),
        (["--to", ":end"], "one position"),
        (["--to", "start", "--topic", "{topic}:7"], "partitions are 0 to 0"),
        (["--shift-by", "1", "--topic", "{topic}"], "--shift-by needs committed offsets"),
        (["--to", "start", "--topic", "{topic}x"], "did you mean topic-"),
    ],
)
def test_a_reset_that_cannot_be_is_refused(
    command: Command, topic: str, group: str, words: list[str], reason: str
) -> None:
    refused = command("groups", "reset", group, *(word.format(topic=topic) for word in words))
    assert refused.code in (1, 2)
    assert reason.format(topic=topic) in refused.err


def test_a_group_is_deleted_with_its_offsets(command: Command, read_topic: str, group: str) -> None:
    assert command("groups", "delete", group).out == f"deleted {group}\n"
    assert group not in command("groups", "list").out
    assert command("consume", read_topic, "-g", group, "-e", "-f", "%v").out == "abcde"


def test_a_misspelt_group_is_answered_with_the_nearest_names(
    command: Command, read_topic: str, group: str
) -> None:
    failed = command("groups", "describe", f"{group}x")
    assert failed.code == 1
    assert f"there is no group {group}x" in failed.err
    assert group in failed.err.partition("did you mean")[2]
    failed = command("groups", "delete", "zzzz")
    assert failed.code == 1
    assert "zzzz: there is no such group" in failed.err


def test_lag_is_unknown_where_nothing_is_committed(
    command: Command, topic: str, group: str
) -> None:
    command("topics", "alter", topic, "-p", "2")
    command("produce", topic, "-p", "0", *"abc")
    command("produce", topic, "-p", "1", "d")
    command("groups", "reset", group, "--to", "1", "--topic", f"{topic}:0")
    (reported,) = command("groups", "describe", group, "--format", "json").document
    assert reported["lag"] is None
    assert [each["lag"] for each in reported["partitions"]] == [2, None]
    shown = command("groups", "describe", group).lines
    assert "lag          2, and unknown in 1 partition" in shown
    (listed,) = command("groups", "list", group, "--lag", "--format", "json").document
    assert listed["lag"] is None
    command("groups", "reset", group, "--to", "end", "--topic", f"{topic}:1")
    (listed,) = command("groups", "list", group, "--lag", "--format", "json").document
    assert listed["lag"] == 2


def test_an_offset_that_some_partitions_lack_is_reported(
    command: Command, topic: str, group: str
) -> None:
    command("topics", "alter", topic, "-p", "2")
    command("produce", topic, "-p", "0", *"abc")
    reported = command("groups", "reset", group, "--to", "2", "--topic", topic, "--format", "json")
    assert [each["after"] for each in reported.document] == [2, 0]
    assert f"partition 1 of {topic} is empty: set to 0 instead of 2" in reported.err


def test_an_offset_that_a_group_does_not_use_is_reported(
    command: Command, read_topic: str, group: str
) -> None:
    reported = command("consume", read_topic, "-g", group, "-e", "--from-beginning")
    assert reported.lines == ["d", "e"]
    assert f"group {group} continues at its committed offsets" in reported.err
    assert f"ottla groups reset {group} --to start" in reported.err


def test_a_member_that_gets_no_partition_says_so(
    environment: dict[str, str], read_topic: str, group: str, member: Consumer
) -> None:
    """The one partition stays with the member whose id is first in the alphabet."""
    with start("consume", read_topic, "-g", group, environment=environment) as reader:
        assert reader.stderr is not None
        while not select.select([reader.stderr], [], [], 0)[0]:
            member.poll(0.1)
        assert b"other members of the group read all partitions" in reader.stderr.readline()
        reader.terminate()
        assert reader.wait(120) == 143


def test_groups_are_described_by_pattern(command: Command, read_topic: str, group: str) -> None:
    described = command("groups", "describe", f"{group[:-1]}?", "--format", "json").document
    assert group in [each["group"] for each in described]


def test_a_pattern_is_not_taken_for_the_name_of_a_new_group(command: Command, topic: str) -> None:
    refused = command("groups", "reset", "none*", "--to", "start", "--topic", topic)
    assert (refused.code, refused.out) == (2, "")
    assert "there is no group none*, and patterns are not accepted here" in refused.err
    assert "none*" not in command("groups", "list").out


def test_a_missing_coordinator_is_named_and_each_group_has_a_result() -> None:
    with RunningBroker(controls=True) as broker:
        address = broker.bootstrap_servers
        ottla("produce", "t", "x", "-b", address)
        for name in ("a", "b"):
            ottla("consume", "t", "-g", name, "-e", "-b", address)
        words = ("--timeout", "2", "-b", address)

        broker.faults.fail("FindCoordinator", "COORDINATOR_NOT_AVAILABLE", times=None)
        failed = ottla("groups", "delete", "a", "b", "--format", "json", *words)
        assert failed.returncode == 1
        assert [each["group"] for each in json.loads(failed.stdout)] == ["a", "b"]
        for group in ("a", "b"):
            assert f"{group}: group {group} has no coordinator: Find" in failed.stderr
        assert "nevertheless" not in failed.stderr
        for verb in (("describe", "a"), ("reset", "a", "--to", "start"), ("list", "--lag")):
            failed = ottla("groups", *verb, *words)
            assert (failed.returncode, failed.stdout) == (1, "")
            assert f"ottla groups {verb[0]}: group a has no coordinator: Find" in failed.stderr
            assert failed.stderr.endswith("  see: ottla status\n")

        broker.faults.clear()
        broker.faults.fail("DeleteGroups", "NOT_COORDINATOR", times=None)
        failed = ottla("groups", "delete", "a", *words)
        assert "a: the coordinator of group a is not ready: Broker: Not coordin" in failed.stderr

        broker.faults.clear()
        broker.faults.drop("DeleteGroups", times=None)
        failed = ottla("groups", "delete", "a", *words)
        assert failed.returncode == 1
        assert (
            f"the coordinator of group a, broker 1 on {address}, did not respond" in failed.stderr
        )
        assert "it may have been deleted nevertheless; see: ottla groups list" in failed.stderr
