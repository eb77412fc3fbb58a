"""Reads that end, whatever librdkafka loses and others write; what is created later is read too."""

from __future__ import annotations

from typing import Any

import confluent_kafka
import pytest
from tests.integration.cli.conftest import Command
from tests.integration.cli.ottla_command import start

from ottla.cli.consuming import stalls
from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("command-line")


class NeverPaused(confluent_kafka.Consumer):  # type: ignore[misc]
    """`resume` after `assign` can make librdkafka drop the start of the partition as outdated."""

    def pause(self, *_arguments: Any) -> None:
        raise AssertionError("a partition was paused")

    def resume(self, *_arguments: Any) -> None:
        raise AssertionError("a partition was resumed")


class LosesStarts(confluent_kafka.Consumer):  # type: ignore[misc]
    """Every assignment after the first is lost until it is repeated."""

    assigned = 0

    def assign(self, partitions: list[Any]) -> None:
        self.assigned += 1
        super().assign(partitions)
        if self.assigned > 1:
            super().pause(partitions)

    def incremental_unassign(self, partitions: list[Any]) -> None:
        super().resume(partitions)
        super().incremental_unassign(partitions)


def write_gaps(broker: RunningBroker, topic: str) -> None:
    """Two records, many offsets without any, and a record that ends with a marker."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic}
    producer = confluent_kafka.Producer(settings)
    producer.init_transactions()
    for values, is_committed in ((["one", "two"], True), (["no"] * 20, False), (["three"], True)):
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value)
        producer.flush()
        (producer.commit_transaction if is_committed else producer.abort_transaction)()


def test_ranges_are_read_one_after_another_without_pausing_a_partition(
    shared_broker: RunningBroker, command: Command, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gaps(shared_broker, topic)
    monkeypatch.setattr(confluent_kafka, "Consumer", NeverPaused)
    for _ in range(20):
        assert command("consume", topic, "--tail", "3").lines == ["one", "two", "three"]
    assert command("consume", topic, "-o", "0:1").lines == ["one"]


def test_a_partition_that_librdkafka_never_started_is_read_again_and_reported(
    shared_broker: RunningBroker, command: Command, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_gaps(shared_broker, topic)
    monkeypatch.setattr(confluent_kafka, "Consumer", LosesStarts)
    monkeypatch.setattr(stalls, "FIRST_CHECK_S", 0.5)
    done = command("consume", topic, "--tail", "3")
    assert done.lines == ["one", "two", "three"]
    assert f"no records arrive from partition 0 of {topic}, which has offsets up to" in done.err


def test_a_read_ends_at_the_end_it_found_although_others_go_on_writing(
    shared_broker: RunningBroker, command: Command, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("produce", topic, "one", "two")
    producer = confluent_kafka.Producer({"bootstrap.servers": shared_broker.bootstrap_servers})

    class WrittenMeanwhile(confluent_kafka.Consumer):  # type: ignore[misc]
        def assign(self, partitions: list[Any]) -> None:
            producer.produce(topic, "later")
            producer.flush()
            super().assign(partitions)

    monkeypatch.setattr(confluent_kafka, "Consumer", WrittenMeanwhile)
    assert command("consume", topic, "-e").lines == ["one", "two"]
    assert command("consume", topic, "--tail", "1").lines == ["later"]
    assert command("consume", topic, "-o", "1:999", "-e").lines == ["two", "later", "later"]
    found = command("consume", topic, "--tail", "1", "-F", "-n", "2").lines
    assert found == ["later", "later"]


def test_new_partitions_and_topics_are_read_from_their_start(
    environment: dict[str, str], command: Command, topic: str
) -> None:
    command("produce", topic, "one")
    with start("consume", f"{topic}*", "-n", "4", environment=environment) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert reader.stdout.readline() == b"one\n"
        command("topics", "alter", topic, "-p", "2")
        command("topics", "create", f"{topic}-b", "-p", "1")
        command("produce", topic, "-p", "1", "two")
        command("produce", f"{topic}-b", "three", "four")
        assert sorted(reader.stdout.readlines()) == [b"four\n", b"three\n", b"two\n"]
        assert reader.wait(120) == 0
        reported = reader.stderr.read().decode()
    assert f"also reading partition 1 of {topic}, which is new" in reported
    assert f"also reading partition 0 of {topic}-b, which is new" in reported


def test_a_member_of_a_group_reads_new_topics_of_its_pattern(
    environment: dict[str, str], command: Command, topic: str, group: str
) -> None:
    command("produce", topic, "one")
    with start("consume", f"{topic}*", "-g", group, "-n", "2", environment=environment) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"one\n"
        command("topics", "create", f"{topic}-b", "-p", "1")
        command("produce", f"{topic}-b", "two")
        assert reader.stdout.readline() == b"two\n"
        reader.communicate(timeout=120)
        assert reader.returncode == 0


def test_a_deleted_topic_that_is_created_again_is_read_from_its_start(
    environment: dict[str, str], command: Command, topic: str
) -> None:
    command("topics", "create", f"{topic}-b", "-p", "1")
    command("produce", f"{topic}-b", "one", "two")
    words = ("consume", topic, f"{topic}-b", "-n", "3")
    with start(*words, environment=environment) as reader:
        assert reader.stdout is not None
        assert reader.stderr is not None
        assert [reader.stdout.readline() for _ in range(2)] == [b"one\n", b"two\n"]
        command("topics", "delete", f"{topic}-b")
        assert reader.stderr.readline() == f"ottla consume: topic {topic}-b was deleted\n".encode()
        command("topics", "create", f"{topic}-b", "-p", "1")
        command("produce", f"{topic}-b", "three")
        assert reader.stdout.readline() == b"three\n"
        reader.communicate(timeout=120)
        assert reader.returncode == 0


def test_partitions_that_a_new_topic_lacks_are_reported_in_words(
    environment: dict[str, str], command: Command, topic: str
) -> None:
    command("topics", "alter", topic, "-p", "3")
    command("produce", topic, "-p", "0", "one")
    with start("consume", topic, environment=environment) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"one\n"
        command("topics", "delete", topic)
        command("topics", "create", topic, "-p", "1")
        _, err = reader.communicate(timeout=120)
    assert reader.returncode == 1
    assert "Local: Unknown partition" not in err.decode()
