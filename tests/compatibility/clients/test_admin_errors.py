"""Responses to impossible requests of admin clients contain Kafka's error codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import kafka.errors as kafka_errors
import pytest
from confluent_kafka import (
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from kafka.admin import ConfigResource as KafkaPythonResource
from tests.compatibility.clients.cluster import PATIENCE_S, Cluster
from tests.compatibility.clients.foreign.client import Record
from tests.compatibility.clients.topics import create_topic

from ottla.testing.broker import RunningBroker


@pytest.fixture(scope="module")
def on(broker: RunningBroker) -> Cluster:
    return Cluster(broker.bootstrap_servers)


def outcomes(on: Cluster, act: Callable[[Any], Mapping[Any, Any]]) -> dict[Any, str]:
    """By what was asked for: the name of the error, or an empty text."""
    with on.librdkafka_admin() as admin:
        found = {}
        for key, future in act(admin).items():
            error = future.exception(PATIENCE_S)
            assert error is None or isinstance(error, KafkaException), error
            found[getattr(key, "name", key)] = "" if error is None else error.args[0].name()
        return found


def test_some_topics_are_created_and_the_others_refused(on: Cluster, topic: str) -> None:
    create_topic(on.bootstrap, f"{topic}-there")
    wanted = {
        f"{topic}-new": NewTopic(f"{topic}-new", 1, 1),
        f"{topic}-there": NewTopic(f"{topic}-there", 1, 1),
        "..": NewTopic("..", 1, 1),
        f"{topic}-wide": NewTopic(f"{topic}-wide", 1, 2),
        f"{topic}-odd": NewTopic(f"{topic}-odd", 1, 1, config={"segment.bytes": "few"}),
        f"{topic}-strange": NewTopic(f"{topic}-strange", 1, 1, config={"no.such.setting": "1"}),
        f"{topic}-far": NewTopic(f"{topic}-far", 1, replica_assignment=[[77]]),
    }
    assert outcomes(on, lambda admin: admin.create_topics(list(wanted.values()))) == {
        f"{topic}-new": "",
        f"{topic}-there": "TOPIC_ALREADY_EXISTS",
        "..": "TOPIC_EXCEPTION",
        f"{topic}-wide": "INVALID_REPLICATION_FACTOR",
        f"{topic}-odd": "INVALID_CONFIG",
        f"{topic}-strange": "INVALID_CONFIG",
        f"{topic}-far": "INVALID_REPLICA_ASSIGNMENT",
    }


def test_validating_changes_nothing(on: Cluster, topic: str) -> None:
    wanted = [NewTopic(topic, 3, 1)]
    assert outcomes(on, lambda a: a.create_topics(wanted, validate_only=True)) == {topic: ""}
    with on.librdkafka_admin() as admin:
        assert topic not in admin.list_topics(timeout=PATIENCE_S).topics
    create_topic(on.bootstrap, topic)
    more = [NewPartitions(topic, 9)]
    assert outcomes(on, lambda a: a.create_partitions(more, validate_only=True)) == {topic: ""}
    assert len(on.ask_librdkafka(describe(topic))[topic].partitions) == 1


def describe(topic: str) -> Callable[[Any], Mapping[Any, Any]]:
    return lambda admin: admin.describe_topics(TopicCollection([topic]))


def test_what_is_not_there_is_not_changed(on: Cluster, topic: str) -> None:
    missing = "UNKNOWN_TOPIC_OR_PART"
    assert outcomes(on, lambda admin: admin.delete_topics([topic])) == {topic: missing}
    more = [NewPartitions(topic, 9)]
    assert outcomes(on, lambda admin: admin.create_partitions(more)) == {topic: missing}
    assert outcomes(on, describe(topic)) == {topic: missing}
    resource = ConfigResource(ResourceType.TOPIC, topic)
    assert outcomes(on, lambda a: a.describe_configs([resource])) == {topic: missing}
    where = TopicPartition(topic, 0, 0)
    with on.librdkafka_admin() as admin:
        (future,) = admin.delete_records([where]).values()
        with pytest.raises(KafkaException):
            future.result(PATIENCE_S)


def test_a_setting_that_makes_no_sense_is_refused_and_the_old_one_stays(
    on: Cluster, topic: str
) -> None:
    create_topic(on.bootstrap, topic, config={"retention.ms": "1000"})
    for name, value in (("retention.ms", "soon"), ("cleanup.policy", "burn"), ("no.such", "1")):
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        assert outcomes(on, altering(resource)) == {topic: "INVALID_CONFIG"}
    resource = ConfigResource(ResourceType.TOPIC, topic)
    (entries,) = on.ask_librdkafka(lambda a: a.describe_configs([resource])).values()
    assert entries["retention.ms"].value == "1000"


def altering(resource: ConfigResource) -> Callable[[Any], Mapping[Any, Any]]:
    return lambda admin: admin.incremental_alter_configs([resource])


def test_settings_are_set_appended_to_taken_from_and_deleted(on: Cluster, topic: str) -> None:
    create_topic(on.bootstrap, topic, config={"retention.ms": "1000"})

    def alter(name: str, value: str | None, operation: AlterConfigOpType) -> str | None:
        entry = ConfigEntry(name, value, incremental_operation=operation)
        changed = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        on.ask_librdkafka(altering(changed))
        resource = ConfigResource(ResourceType.TOPIC, topic)
        (entries,) = on.ask_librdkafka(lambda a: a.describe_configs([resource])).values()
        found: str | None = entries[name].value
        return found

    assert alter("cleanup.policy", "compact", AlterConfigOpType.APPEND) == "delete,compact"
    assert alter("cleanup.policy", "delete", AlterConfigOpType.SUBTRACT) == "compact"
    assert alter("cleanup.policy", None, AlterConfigOpType.DELETE) == "delete"
    assert alter("retention.ms", "5000", AlterConfigOpType.SET) == "5000"


def test_librdkafka_lists_offsets_by_kind(on: Cluster, topic: str) -> None:
    times = [1_700_000_000_000 + each for each in (0, 9, 3)]
    for at_ms in times:
        on.librdkafka.produce(topic, [Record(b"x", timestamp_ms=at_ms)])
    where = TopicPartition(topic, 0)
    for spec, offset in (
        (OffsetSpec.earliest(), 0),
        (OffsetSpec.latest(), 3),
        (OffsetSpec.max_timestamp(), 1),
        (OffsetSpec.for_timestamp(times[0] + 1), 1),
        (OffsetSpec.for_timestamp(times[1] + 1), -1),
    ):
        (found,) = on.ask_librdkafka(listing({where: spec})).values()
        assert found.offset == offset, spec


def listing(asked: Mapping[TopicPartition, OffsetSpec]) -> Callable[[Any], Mapping[Any, Any]]:
    return lambda admin: admin.list_offsets(asked)


def test_records_cannot_be_deleted_beyond_the_end(on: Cluster, topic: str) -> None:
    on.librdkafka.produce(topic, [Record(b"x")] * 3)
    with on.librdkafka_admin() as admin:
        (future,) = admin.delete_records([TopicPartition(topic, 0, 4)]).values()
        with pytest.raises(KafkaException) as refused:
            future.result(PATIENCE_S)
    assert refused.value.args[0].code() == KafkaError.OFFSET_OUT_OF_RANGE
    assert on.librdkafka.bounds(topic) == (0, 3)


def test_kafka_python_gets_the_same_errors(on: Cluster, topic: str) -> None:
    with on.kafka_python_admin() as admin:
        admin.create_topics({topic: {"num_partitions": 2, "replication_factor": 1}})
        with pytest.raises(kafka_errors.TopicAlreadyExistsError):
            admin.create_topics([topic])
        with pytest.raises(kafka_errors.InvalidPartitionsError):
            admin.create_partitions({topic: 1})
        odd = KafkaPythonResource("TOPIC", topic, {"segment.bytes": "few"})
        assert "InvalidConfigurationError" in admin.alter_configs([odd])["topic"][topic]
        with pytest.raises(kafka_errors.UnknownTopicOrPartitionError):
            admin.delete_topics([f"{topic}-not-there"])
