"""The command line is for any Kafka cluster: the same commands against Apache Kafka."""

from __future__ import annotations

import pytest
from tests.integration.cli.conftest import Command, CommandFor
from tests.support.apache_kafka import ApacheKafka

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]


@pytest.fixture
def kafka_command(apache_kafka: ApacheKafka, command_for: CommandFor) -> Command:
    return command_for(apache_kafka.bootstrap)


def test_topics_records_and_groups_of_apache_kafka(kafka_command: Command) -> None:
    ottla = kafka_command
    topic, group = "command-line", "command-line-readers"
    assert ottla("topics", "create", topic, "-p", "2", "-c", "retention.ms=60000").code == 0
    assert "already exists" in ottla("topics", "create", topic).err
    assert "did you mean" in ottla("topics", "alter", topic, "-c", "retention.sm=1").err
    ottla("produce", topic, "-p", "0", "-k", "k", "-H", "h=1", "a", "b", "c")
    assert ottla("consume", topic, "-e", "-f", r"%o %k %v %h{%k=%v}\n", "-o", "1:3").lines == [
        "1 k b h=1",
        "2 k c h=1",
    ]
    assert ottla("consume", topic, "-g", group, "-n", "2").lines == ["a", "b"]
    (described,) = ottla("groups", "describe", group, "--time", "--format", "json").document
    assert (described["state"], described["lag"]) == ("Empty", 1)
    assert ottla("groups", "reset", group, "--to", "start").code == 0
    assert ottla("consume", topic, "-g", group, "-e").lines == ["a", "b", "c"]
    assert ottla("groups", "delete", group).code == 0
    assert ottla("status", "--format", "json").document["is_healthy"]
    assert ottla("topics", "delete", topic).out == f"deleted {topic}\n"


def test_a_topic_that_may_not_be_made_by_writing_is_reported(kafka_command: Command) -> None:
    failed = kafka_command("produce", "never-created", "x", "--timeout", "8")
    assert failed.code == 1
    assert "ottla topics create never-created" in failed.err
