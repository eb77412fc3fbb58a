from __future__ import annotations

import pytest
from tests.integration.cli.conftest import Command

pytestmark = pytest.mark.xdist_group("command-line")


def test_a_topic_lives_from_creation_to_deletion(command: Command) -> None:
    created = command("topics", "create", "life", "-p", "3", "-c", "retention.ms=60000")
    assert (created.code, created.out) == (0, "created life\n")

    altered = command(
        "topics", "alter", "life", "-p", "4", "-c", "cleanup.policy=compact", "-d", "retention.ms"
    )
    assert altered.code == 0
    assert altered.err == ("ottla topics alter: some keys go to other partitions than before\n")
    assert altered.lines == [
        "life has 4 partitions",
        "changed cleanup.policy, retention.ms of life",
    ]

    (described,) = command("topics", "describe", "life", "--format", "json").document
    assert [each["partition"] for each in described["partitions"]] == [0, 1, 2, 3]
    assert described["settings"] == {"cleanup.policy": "compact"}

    assert command("topics", "delete", "life").out == "deleted life\n"
    assert "life" not in command("topics", "list").out


def test_describe_shows_offsets_and_with_all_also_the_defaults(
    command: Command, topic: str
) -> None:
    command("produce", topic, "a", "b")
    reported = command("topics", "describe", topic)
    assert "records  2 at most" in reported.out
    assert reported.lines[-1].split() == ["0", "1", "1", "1", "0", "2"]
    everything = command("topics", "describe", topic, "--all", "--format", "json").document
    assert everything[0]["settings"]["cleanup.policy"] == "delete"


def test_several_topics_are_created_and_one_that_exists_does_not_stop_the_others(
    command: Command, topic: str
) -> None:
    done = command("topics", "create", topic, f"{topic}-b", "--format", "json")
    assert done.code == 1
    first, second = sorted(done.document, key=lambda each: len(each["topic"]))
    assert "already exists" in first["error"]
    assert second == {"topic": f"{topic}-b", "done": f"created {topic}-b", "error": None}
    assert "--if-not-exists" in done.err
    assert command("topics", "create", topic, "--if-not-exists").code == 0


def test_a_dry_run_creates_nothing(command: Command) -> None:
    assert command("topics", "create", "dry", "--dry-run").out == "would create dry\n"
    assert "dry" not in command("topics", "list").out


def test_lists_choose_by_pattern_and_leave_out_internal_topics(
    command: Command, topic: str, group: str
) -> None:
    command("consume", topic, "-e", "-g", group)  # makes Kafka's own topic for offsets
    names = [each["topic"] for each in command("topics", "list", "--format", "json").document]
    assert topic in names
    assert "__consumer_offsets" not in names
    assert "__consumer_offsets" in command("topics", "list", "-i").out
    assert command("topics", "list", "__consumer_offsets").lines[1].startswith("__consumer")
    assert command("topics", "list", "nothing*").lines == ["TOPIC  PARTITIONS  REPLICAS"]


def test_internal_topics_are_neither_written_nor_deleted_by_mistake(
    command: Command, topic: str, group: str
) -> None:
    command("consume", topic, "-e", "-g", group)  # makes Kafka's own topic for offsets
    refused = command("topics", "delete", "__consumer_offsets")
    assert (refused.code, "__consumer_offsets is internal" in refused.err) == (2, True)
    assert "__consumer_offsets" in command("topics", "list", "-i").out
    refused = command("produce", "__consumer_offsets", "x")
    assert (refused.code, "is an internal topic" in refused.err) == (1, True)


def test_yaml_is_a_format_too(command: Command, topic: str) -> None:
    reported = command("topics", "list", topic, "--format", "yaml")
    assert reported.lines == [f"- topic: {topic}", "  partitions: 1", "  replicas: 1"]


def test_a_misspelt_topic_is_answered_with_the_nearest_names(command: Command) -> None:
    command("topics", "create", "payments", "--if-not-exists")
    for words in (
        ["describe", "paymnets"],
        ["alter", "paymnets", "-p", "2"],
        ["delete", "paymets"],
    ):
        failed = command("topics", *words)
        assert failed.code == 1
        assert "did you mean payments?" in failed.err
    assert command("topics", "delete", "paymets", "--if-exists").code == 0
    nothing_like_it = command("topics", "delete", "zzzz")
    assert "zzzz: there is no such topic" in nothing_like_it.err
    assert "ottla topics list" in nothing_like_it.err


def test_a_misspelt_setting_is_answered_with_the_nearest_names(
    command: Command, topic: str
) -> None:
    failed = command("topics", "alter", topic, "-c", "retention.sm=5")
    assert failed.code == 1
    assert "Unknown topic config name: retention.sm" in failed.err
    assert "did you mean retention.ms" in failed.err


def test_what_makes_no_sense_is_refused_before_anybody_is_asked(command: Command) -> None:
    assert command("topics", "alter", "t").code == 2
    assert "NAME=VALUE" in command("topics", "create", "t", "-c", "retention.ms").err


def test_topics_are_described_by_pattern_or_with_the_option_of_kafkas_tools(
    command: Command, topic: str
) -> None:
    command("topics", "create", f"{topic}-x", f"{topic}-y", "--replication-factor", "1")
    described = command("topics", "describe", f"{topic}-*", "--format", "json").document
    assert [each["topic"] for each in described] == [f"{topic}-x", f"{topic}-y"]
    (described,) = command("topics", "describe", "--topic", topic, "--format", "json").document
    assert described["topic"] == topic
    refused = command("topics", "delete", f"{topic}-*")
    assert (refused.code, "patterns are not accepted here" in refused.err) == (2, True)
    failed = command("topics", "describe", "nothing*")
    assert (failed.code, "no topic matches nothing*" in failed.err) == (1, True)


def test_a_setting_that_is_not_there_is_not_called_changed(command: Command, topic: str) -> None:
    failed = command("topics", "alter", topic, "-d", "retention.sm")
    assert failed.code == 1
    assert "-d retention.sm: no such topic setting" in failed.err
    assert "did you mean retention.ms" in failed.err
    unset = command("topics", "alter", topic, "-d", "retention.ms", "-c", "segment.ms=1000")
    assert unset.out == f"changed segment.ms of {topic}; retention.ms was not set on {topic}\n"


def test_an_empty_name_is_quoted_in_its_error(command: Command) -> None:
    failed = command("topics", "create", "")
    assert failed.code == 1
    assert failed.err.startswith("ottla topics create: '': Topic name is invalid")
