"""Groups of consumers and their offsets."""

from __future__ import annotations

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from tests.compatibility.clients.clients import JAVA, KAFKA_PYTHON, LIBRDKAFKA
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.foreign import kafka_python, librdkafka
from tests.compatibility.clients.foreign.client import Record
from tests.compatibility.clients.foreign.kafka_python import (
    TopicPartition as KafkaPythonPartition,
)
from tests.compatibility.clients.stories.telling import Sight, shows
from tests.support.waiting import wait_until

from ottla.protocol.api_keys import ApiKey

SENT = [Record(b"%d" % each) for each in range(10)]


def commit(on: Cluster, group: str, topic: str, offset: int) -> None:
    on.librdkafka.produce(topic, SENT)
    with librdkafka.consumer(on.bootstrap, **{"group.id": group}) as reader:
        reader.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)


def offsets_by_librdkafka(on: Cluster, group: str) -> dict[str, int]:
    """By topic, of partition 0."""
    asked = [ConsumerGroupTopicPartitions(group)]
    (found,) = on.ask_librdkafka(
        lambda admin: admin.list_consumer_group_offsets(asked, request_timeout=120)
    ).values()
    return {each.topic: each.offset for each in found.topic_partitions}


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.OFFSET_COMMIT, ApiKey.FIND_COORDINATOR],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.OFFSET_FETCH, ApiKey.FIND_COORDINATOR],
)
def a_committed_offset_is_reported(on: Cluster) -> Sight:
    commit(on, "committing", "committed", 7)
    where = KafkaPythonPartition("committed", 0)

    def is_reported() -> bool:
        with on.kafka_python_admin() as admin:
            offsets = admin.list_group_offsets("committing")["committing"]
            return bool(offsets[where].offset == 7)

    return is_reported


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.DESCRIBE_GROUPS, ApiKey.LIST_GROUPS],
)
def a_static_member_stays_while_it_is_away(on: Cluster) -> Sight:
    """It does not leave when it closes, and has ten minutes to come back."""
    on.librdkafka.produce("joined", SENT)
    settings = {
        "group.id": "joining", "group.instance.id": "static-1", "heartbeat.interval.ms": 100,
        "session.timeout.ms": 600_000, "auto.offset.reset": "earliest",
        "max.poll.interval.ms": 600_000,
    }  # fmt: skip
    with librdkafka.consumer(on.bootstrap, **settings) as reader:
        reader.subscribe(["joined"])
        assert len(librdkafka.read(reader, len(SENT))) == len(SENT)
        wait_until(lambda: bool(on.tap.versions(ApiKey.HEARTBEAT, "rdkafka")), "its heart beats")

    def is_there() -> bool:
        with on.kafka_python_admin() as admin:
            assert "joining" in {each["group_id"] for each in admin.list_groups()}
            group = admin.describe_groups(["joining"])["joining"]
            (member,) = group["members"]
            return bool(
                group["group_state"] == "Stable" and member["group_instance_id"] == "static-1"
            )

    return is_there


@shows(
    by=KAFKA_PYTHON,
    does=[ApiKey.JOIN_GROUP, ApiKey.LEAVE_GROUP],
    seen_by=LIBRDKAFKA,
    sees=[ApiKey.DESCRIBE_GROUPS],
)
def a_member_that_left_is_gone(on: Cluster) -> Sight:
    on.librdkafka.produce("left", SENT)
    settings = {"group_id": "leaving", "auto_offset_reset": "earliest"}
    with kafka_python.consumer(on.bootstrap, **settings) as reader:
        reader.subscribe(["left"])
        assert len(kafka_python.read(reader, len(SENT))) == len(SENT)

    def is_empty() -> bool:
        found = on.ask_librdkafka(lambda admin: admin.describe_consumer_groups(["leaving"]))
        group = found["leaving"]
        return group.state.name == "EMPTY" and not group.members

    return is_empty


@shows(by=LIBRDKAFKA, does=[ApiKey.DELETE_GROUPS], seen_by=JAVA, sees=[ApiKey.LIST_GROUPS])
def a_deleted_group_is_gone(on: Cluster) -> Sight:
    commit(on, "doomed-group", "of-a-doomed-group", 3)
    commit(on, "kept-group", "of-a-doomed-group", 3)
    on.ask_librdkafka(lambda admin: admin.delete_consumer_groups(["doomed-group"]))

    def is_gone() -> bool:
        groups = on.tool("consumer.group.ConsumerGroupCommand", "--list").text.split()
        return "doomed-group" not in groups and "kept-group" in groups

    return is_gone


@shows(by=KAFKA_PYTHON, does=[ApiKey.OFFSET_DELETE], seen_by=LIBRDKAFKA, sees=[ApiKey.OFFSET_FETCH])
def a_forgotten_offset_is_gone(on: Cluster) -> Sight:
    commit(on, "forgetting", "forgotten", 4)
    commit(on, "forgetting", "remembered", 5)
    with on.kafka_python_admin() as admin:
        admin.delete_group_offsets("forgetting", [KafkaPythonPartition("forgotten", 0)])
    return lambda: offsets_by_librdkafka(on, "forgetting") == {"remembered": 5}


@shows(by=JAVA, does=[ApiKey.OFFSET_COMMIT], seen_by=LIBRDKAFKA, sees=[ApiKey.OFFSET_FETCH])
def a_group_is_set_back_by_kafkas_own_tool(on: Cluster) -> Sight:
    commit(on, "reset", "set-back", 9)
    words = ("--reset-offsets", "--group", "reset", "--topic", "set-back", "--to-offset", "2")
    on.tool("consumer.group.ConsumerGroupCommand", *words, "--execute")
    return lambda: offsets_by_librdkafka(on, "reset") == {"set-back": 2}


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.CONSUMER_GROUP_HEARTBEAT],
    seen_by=JAVA,
    sees=[ApiKey.CONSUMER_GROUP_DESCRIBE],
)
def a_member_of_the_new_protocol_is_described(on: Cluster) -> Sight:
    on.librdkafka.produce("of-the-new-protocol", SENT)
    settings = {
        "bootstrap.servers": on.bootstrap, "group.id": "new-protocol", "client.id": "rdkafka-new",
        "group.protocol": "consumer", "auto.offset.reset": "earliest", **librdkafka.QUIET,
    }  # fmt: skip
    reader = Consumer(settings)
    reader.subscribe(["of-the-new-protocol"])
    assert len(librdkafka.read(reader, len(SENT))) == len(SENT)

    def is_described() -> bool:
        words = ("--describe", "--members", "--group", "new-protocol")
        reader.poll(0)  # it lives, and is a member as long as this does
        return "rdkafka-new" in on.tool("consumer.group.ConsumerGroupCommand", *words).text

    return is_described
