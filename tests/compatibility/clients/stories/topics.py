"""Topics, partitions, log directories, leaders."""

from __future__ import annotations

import json
from tempfile import NamedTemporaryFile
from typing import Any

from confluent_kafka import ElectionType, KafkaException, TopicPartition
from confluent_kafka.admin import NewPartitions, NewTopic
from tests.compatibility.clients.clients import AIOKAFKA, JAVA, KAFKA_PYTHON, LIBRDKAFKA
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.foreign.client import Record, Stored
from tests.compatibility.clients.foreign.kafka_python import (
    TopicPartition as KafkaPythonPartition,
)
from tests.compatibility.clients.stories.telling import Sight, shows
from tests.support.java_clients import run_tool
from tests.support.waiting import wait_until

from ottla.protocol.api_keys import ApiKey


def create(on: Cluster, topic: str, partitions: int = 1) -> None:
    on.ask_librdkafka(lambda admin: admin.create_topics([NewTopic(topic, partitions, 1)]))


@shows(by=LIBRDKAFKA, does=[ApiKey.CREATE_TOPICS], seen_by=AIOKAFKA, sees=[ApiKey.METADATA])
def a_created_topic_is_listed(on: Cluster) -> Sight:
    create(on, "created")
    return lambda: "created" in on.ask_aiokafka(lambda admin: admin.list_topics())


@shows(by=JAVA, does=[ApiKey.CREATE_TOPICS], seen_by=KAFKA_PYTHON, sees=[ApiKey.DESCRIBE_CONFIGS])
def a_topic_is_created_with_its_settings(on: Cluster) -> Sight:
    words = ("--create", "--topic", "with-settings", "--partitions", "2")
    on.tool("TopicCommand", *words, "--config", "retention.ms=4242")
    return lambda: topic_settings(on, "with-settings")["retention.ms"] == "4242"


def topic_settings(on: Cluster, topic: str) -> dict[str, str]:
    from kafka.admin import ConfigResource

    with on.kafka_python_admin() as admin:
        (found,) = admin.describe_configs(
            [ConfigResource("TOPIC", topic)], config_filter="all"
        ).values()
        return {name: entry["value"] for name, entry in found[topic].items()}


@shows(by=KAFKA_PYTHON, does=[ApiKey.DELETE_TOPICS], seen_by=LIBRDKAFKA, sees=[ApiKey.METADATA])
def a_deleted_topic_is_gone(on: Cluster) -> Sight:
    create(on, "doomed")
    with on.kafka_python_admin() as admin:
        admin.delete_topics(["doomed"])

    def is_gone() -> bool:
        with on.librdkafka_admin() as admin:
            return "doomed" not in admin.list_topics(timeout=120).topics

    return is_gone


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.CREATE_PARTITIONS],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.DESCRIBE_TOPIC_PARTITIONS],
)
def a_topic_that_grew_has_more_partitions(on: Cluster) -> Sight:
    create(on, "growing")
    on.ask_librdkafka(lambda admin: admin.create_partitions([NewPartitions("growing", 5)]))

    def has_grown() -> bool:
        with on.kafka_python_admin() as admin:
            (topic,) = admin.describe_topic_partitions(["growing"])["topics"]
            return len(topic["partitions"]) == 5

    return has_grown


@shows(
    by=AIOKAFKA,
    does=[ApiKey.CREATE_PARTITIONS],
    seen_by=JAVA,
    sees=[ApiKey.DESCRIBE_TOPIC_PARTITIONS],
)
def the_topics_tool_describes_new_partitions(on: Cluster) -> Sight:
    from aiokafka.admin import NewPartitions as AioNewPartitions

    create(on, "described")
    on.ask_aiokafka(lambda admin: admin.create_partitions({"described": AioNewPartitions(3)}))
    words = ("--describe", "--topic", "described")
    return lambda: "PartitionCount: 3" in on.tool("TopicCommand", *words).text


@shows(by=LIBRDKAFKA, does=[ApiKey.DELETE_RECORDS], seen_by=JAVA, sees=[ApiKey.LIST_OFFSETS])
def deleted_records_stay_deleted(on: Cluster) -> Sight:
    on.librdkafka.produce("shortened", [Record(b"x")] * 10)
    where = TopicPartition("shortened", 0, 7)
    on.ask_librdkafka(lambda admin: admin.delete_records([where]))
    return lambda: on.java.bounds("shortened") == (7, 10)


@shows(by=LIBRDKAFKA, does=[ApiKey.PRODUCE], seen_by=KAFKA_PYTHON, sees=[ApiKey.DESCRIBE_LOG_DIRS])
def log_directories_contain_what_was_written(on: Cluster) -> Sight:
    on.librdkafka.produce("measured", [Record(b"x" * 10_000)] * 10)
    return lambda: log_of(on, "measured")["partition_size"] > 100_000


def log_of(on: Cluster, topic: str) -> dict[str, Any]:
    """The description of partition 0 in DescribeLogDirs, and `log_dir`, where it is."""
    with on.kafka_python_admin() as admin:
        (broker,) = admin.describe_log_dirs({topic: [0]})
        for directory in broker["log_dirs"]:
            for each in directory["topics"]:
                for partition in each["partitions"]:
                    if not partition["is_future_key"]:
                        return {**partition, "log_dir": directory["log_dir"]}
    raise AssertionError(f"{topic} is in no directory")


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.ELECT_LEADERS],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.METADATA],
    remark="answered as Kafka does; with one broker there is no other leader",
)
def an_election_leaves_the_only_broker_leading(on: Cluster) -> Sight:
    create(on, "elected")
    with on.librdkafka_admin() as admin:
        asked = admin.elect_leaders(ElectionType.PREFERRED, [TopicPartition("elected", 0)])
        (error,) = asked.result(120).values()
        assert KafkaException(error).args[0].name() == "ELECTION_NOT_NEEDED"

    def leads() -> bool:
        with on.kafka_python_admin() as admin:
            (topic,) = admin.describe_topics(["elected"])
            return bool(topic["partitions"][0]["leader_id"] == 1)

    return leads


@shows(
    by=KAFKA_PYTHON,
    does=[ApiKey.ALTER_PARTITION_REASSIGNMENTS],
    seen_by=JAVA,
    sees=[ApiKey.LIST_PARTITION_REASSIGNMENTS],
    remark="done at once; with one broker there is nowhere else to go",
)
def a_reassignment_to_the_same_broker_is_done_at_once(on: Cluster) -> Sight:
    create(on, "reassigned")
    with on.kafka_python_admin() as admin:
        admin.alter_partition_reassignments({KafkaPythonPartition("reassigned", 0): [1]})
    tool = "reassign.ReassignPartitionsCommand"
    return lambda: "No partition reassignments found" in on.tool(tool, "--list").text


@shows(by=JAVA, seen_by=KAFKA_PYTHON, sees=[ApiKey.DESCRIBE_CLUSTER], remark="reads only")
def all_clients_see_the_same_cluster(on: Cluster) -> Sight:
    with on.kafka_python_admin() as admin:
        before = admin.describe_cluster()

    def is_the_same() -> bool:
        with on.kafka_python_admin() as admin:
            now = admin.describe_cluster()
        with on.librdkafka_admin() as other:
            name = other.describe_cluster().result(120).cluster_id
        assert (now["cluster_id"], now["brokers"]) == (before["cluster_id"], before["brokers"])
        return bool(now["cluster_id"] == name)

    return is_the_same


@shows(
    by=JAVA,
    does=[ApiKey.UNREGISTER_BROKER],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.DESCRIBE_CLUSTER],
    remark="there is but one, which runs",
)
def a_broker_that_runs_is_not_forgotten(on: Cluster) -> Sight:
    for broker, why in (("1", "is running"), ("99", "not currently registered")):
        words = ("unregister", "--bootstrap-server", on.bootstrap, "--id", broker)
        printed = run_tool(on.oracle, "org.apache.kafka.tools.ClusterTool", *words)
        assert printed.status == 1, printed
        assert why in printed.complaints + printed.text, printed

    def is_there() -> bool:
        with on.kafka_python_admin() as admin:
            return len(admin.describe_cluster()["brokers"]) == 1

    return is_there


@shows(by=JAVA, does=[ApiKey.CREATE_TOPICS], seen_by=KAFKA_PYTHON, sees=[ApiKey.DESCRIBE_QUORUM])
def the_metadata_log_of_one_voter_grows(on: Cluster) -> Sight:
    before = metadata_log(on)["high_watermark"]
    on.tool("TopicCommand", "--create", "--topic", "voted", "--partitions", "2")

    def has_grown() -> bool:
        now = metadata_log(on)
        (voter,) = now["current_voters"]
        assert now["leader_id"] == voter["replica_id"] == 1
        return bool(voter["log_end_offset"] == now["high_watermark"] >= before + 3)

    return has_grown


def metadata_log(on: Cluster) -> dict[str, Any]:
    with on.kafka_python_admin() as admin:
        (topic,) = admin.describe_metadata_quorum()["topics"]
    (partition,) = topic["partitions"]
    assert partition["error"] is None
    found: dict[str, Any] = partition
    return found


@shows(
    by=JAVA,
    does=[ApiKey.ALTER_REPLICA_LOG_DIRS],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.DESCRIBE_LOG_DIRS],
)
def a_partition_moved_to_another_disk_is_there(on: Cluster) -> Sight:
    on.librdkafka.produce("moved", [Record(b"x" * 1000)] * 100)
    target = other_directory(on, "moved")
    wanted = {"topic": "moved", "partition": 0, "replicas": [1], "log_dirs": [target]}
    with NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"version": 1, "partitions": [wanted]}, file)
        file.flush()
        tool, words = "reassign.ReassignPartitionsCommand", ("--reassignment-json-file", file.name)
        on.tool(tool, "--execute", *words)
        done = "Reassignment of replica moved-0-1 completed successfully"
        wait_until(lambda: done in on.tool(tool, "--verify", *words).text, "it has moved")
    return lambda: log_of(on, "moved")["log_dir"] == target and len(read_all(on, "moved")) == 100


@shows(
    by=KAFKA_PYTHON,
    does=[ApiKey.ALTER_REPLICA_LOG_DIRS],
    seen_by=JAVA,
    sees=[ApiKey.DESCRIBE_LOG_DIRS],
)
def a_partition_moved_by_kafka_python_is_there(on: Cluster) -> Sight:
    on.librdkafka.produce("moved-too", [Record(b"x")] * 10)
    target = other_directory(on, "moved-too")
    with on.kafka_python_admin() as admin:
        admin.alter_replica_log_dirs({("moved-too", 0, 1): target})

    def is_there() -> bool:
        reported = on.tool("LogDirsCommand", "--describe", "--topic-list", "moved-too").text
        (broker,) = json.loads(reported.splitlines()[-1])["brokers"]
        # While it moves it is in both.
        places = [each["logDir"] for each in broker["logDirs"] if each["partitions"]]
        return places == [target]

    wait_until(is_there, "it has moved")
    return is_there


def other_directory(on: Cluster, topic: str) -> str:
    """A directory of the broker in which partition 0 is not."""
    with on.kafka_python_admin() as admin:
        (broker,) = admin.describe_log_dirs({topic: [0]})
    here = log_of(on, topic)["log_dir"]
    paths: list[str] = [each["log_dir"] for each in broker["log_dirs"]]
    return next(path for path in paths if path != here)


def read_all(on: Cluster, topic: str) -> list[Stored]:
    return on.librdkafka.consume(topic, on.librdkafka.bounds(topic)[1])
