"""Kafka's own command-line tools against our broker: what they print is what they always print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.compatibility.clients.clients import EVERY_JAVA
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.foreign.client import How, Record
from tests.compatibility.clients.topics import create_topic
from tests.support.java_clients import Printed, run_tool
from tests.support.kafka_jars import KAFKA_VERSION
from tests.support.oracle import OracleOf

from ottla.testing.broker import RunningBroker

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("tools")]
CONFIGS = "kafka.admin.ConfigCommand"
REASSIGN = "reassign.ReassignPartitionsCommand"


@pytest.fixture(scope="module", params=EVERY_JAVA)
def on(request: pytest.FixtureRequest, broker: RunningBroker, oracle_of: OracleOf) -> Cluster:
    """With the tools of both releases: the older ones send older requests."""
    return Cluster(broker.bootstrap_servers, oracle_of(request.param))


@pytest.fixture
def refused(on: Cluster) -> Callable[..., Printed]:
    """Run a tool that must fail."""

    def run(name: str, *arguments: str) -> Printed:
        where = ("--bootstrap-server", on.bootstrap)
        printed = run_tool(on.oracle, f"org.apache.kafka.tools.{name}", *where, *arguments)
        assert printed.status == 1
        return printed

    return run


def test_kafka_topics_creates_lists_describes_grows_and_deletes(on: Cluster, topic: str) -> None:
    words = ("--topic", topic)
    made = on.tool("TopicCommand", "--create", *words, "--partitions", "3").text
    assert made.splitlines()[-1] == f"Created topic {topic}."
    assert topic in on.tool("TopicCommand", "--list").text.split()
    described = on.tool("TopicCommand", "--describe", *words).text
    assert "PartitionCount: 3\tReplicationFactor: 1\t" in described
    assert f"\tTopic: {topic}\tPartition: 2\tLeader: 1\tReplicas: 1\tIsr: 1\t" in described
    on.tool("TopicCommand", "--alter", *words, "--partitions", "5")
    assert "PartitionCount: 5" in on.tool("TopicCommand", "--describe", *words).text
    on.tool("TopicCommand", "--delete", *words)
    assert topic not in on.tool("TopicCommand", "--list").text.split()
    for flag in ("--under-replicated-partitions", "--unavailable-partitions"):
        assert on.tool("TopicCommand", "--describe", flag).text == ""


def test_kafka_topics_says_why_it_cannot(
    on: Cluster, topic: str, refused: Callable[..., Printed]
) -> None:
    create_topic(on.bootstrap, topic)
    again = refused("TopicCommand", "--create", "--topic", topic)
    assert f"Topic '{topic}' already exists." in again.text
    missing = refused("TopicCommand", "--describe", "--topic", "no-such-topic")
    assert re.search("Topic '.*no-such-topic.*' does not exist as expected", missing.text)
    fewer = refused("TopicCommand", "--alter", "--topic", topic, "--partitions", "1")
    assert "Topic already has 1 partition" in fewer.text
    many = refused("TopicCommand", "--create", "--topic", "x", "--replication-factor", "3")
    assert "Unable to replicate the partition 3 time(s)" in many.text


def test_kafka_configs_changes_topics_and_brokers(on: Cluster, topic: str) -> None:
    create_topic(on.bootstrap, topic)
    for kind, name, setting in (
        ("topics", topic, "cleanup.policy=[compact,delete]"),
        ("topics", topic, "max.message.bytes=2000000"),
        ("brokers", "1", "log.cleaner.backoff.ms=12345"),
    ):
        entity = ("--entity-type", kind, "--entity-name", name)
        on.tool(CONFIGS, "--alter", *entity, "--add-config", setting)
        shown = on.tool(CONFIGS, "--describe", *entity).text
        assert setting.replace("[", "").replace("]", "") in shown
        on.tool(CONFIGS, "--alter", *entity, "--delete-config", setting.partition("=")[0])
        assert setting.partition("=")[0] not in on.tool(CONFIGS, "--describe", *entity).text
    everything = on.tool(
        CONFIGS, "--describe", "--all", "--entity-type", "topics", "--entity-name", topic
    )
    assert "segment.bytes=1073741824" in everything.text


def test_kafka_get_offsets_finds_every_kind_of_offset(on: Cluster, topic: str) -> None:
    create_topic(on.bootstrap, topic, partitions=2)
    for at in range(10):
        sent = Record(b"x", timestamp_ms=1_700_000_000_000 + (5 - at) ** 2)
        on.librdkafka.produce(topic, [sent], How(partition=1))
    for time, expected in (
        ("latest", [f"{topic}:0:0", f"{topic}:1:10"]),
        ("earliest", [f"{topic}:0:0", f"{topic}:1:0"]),
        ("max-timestamp", [f"{topic}:0:", f"{topic}:1:0"]),
        ("1700000000020", [f"{topic}:0:", f"{topic}:1:0"]),
        ("1700000000026", [f"{topic}:0:", f"{topic}:1:"]),
        ("-4", [f"{topic}:0:0", f"{topic}:1:0"]),
        ("-5", [f"{topic}:0:", f"{topic}:1:"]),
    ):
        found = on.tool("GetOffsetShell", "--topic", topic, "--time", time).text.splitlines()
        assert found == [each for each in expected if not each.endswith(":")], time


def test_kafka_delete_records_and_log_dirs(
    broker: RunningBroker, on: Cluster, topic: str, tmp_path: Path
) -> None:
    on.librdkafka.produce(topic, [Record(b"x" * 1000)] * 10)
    file = tmp_path / "offsets.json"
    wanted: list[dict[str, Any]] = [{"topic": topic, "partition": 0, "offset": 4}]
    file.write_text(json.dumps({"partitions": wanted, "version": 1}))
    printed = on.tool("DeleteRecordsCommand", "--offset-json-file", str(file)).text
    assert f"partition: {topic}-0\tlow_watermark: 4" in printed
    reported = on.tool("LogDirsCommand", "--describe", "--topic-list", topic).text.splitlines()[-1]
    (node,) = json.loads(reported)["brokers"]
    (directory,) = node["logDirs"]
    assert directory["logDir"] == str(broker.data)
    (log,) = directory["partitions"]
    assert (log["partition"], log["offsetLag"], log["isFuture"]) == (f"{topic}-0", 0, False)
    assert log["size"] > 10_000


def test_kafka_leader_election_finds_nothing_to_do(on: Cluster, topic: str) -> None:
    create_topic(on.bootstrap, topic)
    words = ("--election-type", "preferred", "--topic", topic, "--partition", "0")
    printed = on.tool("LeaderElectionCommand", *words).text
    assert f"Valid replica already elected for partitions {topic}-0" in printed


def test_kafka_reassign_partitions_runs_from_plan_to_end(
    on: Cluster, topic: str, tmp_path: Path
) -> None:
    create_topic(on.bootstrap, topic)
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"topics": [{"topic": topic}], "version": 1}))
    words = ("--generate", "--broker-list", "1", "--topics-to-move-json-file", str(file))
    plan = on.tool(REASSIGN, *words).text.splitlines()[-1]
    assert json.loads(plan)["partitions"][0]["replicas"] == [1]
    file.write_text(plan)
    started = on.tool(REASSIGN, "--execute", "--reassignment-json-file", str(file)).text
    assert f"Successfully started partition reassignment for {topic}-0" in started
    verified = on.tool(REASSIGN, "--verify", "--reassignment-json-file", str(file)).text
    assert f"Reassignment of partition {topic}-0 is completed." in verified
    assert on.tool(REASSIGN, "--list").text.strip() == "No partition reassignments found."


def test_kafka_cluster_features_and_api_versions(on: Cluster) -> None:
    described = on.tool("FeatureCommand", "describe").text
    assert "Feature: transaction.version" in described
    is_newest = on.oracle.version == KAFKA_VERSION
    tool = "BrokerApiVersionsCommand" if is_newest else "kafka.admin.BrokerApiVersionsCommand"
    assert f"Fetch(1): 4 to 18 [usable: {18 if is_newest else 17}]" in on.tool(tool).text
    printed = run_tool(
        on.oracle, "org.apache.kafka.tools.ClusterTool", "cluster-id",
        "--bootstrap-server", on.bootstrap,
    )  # fmt: skip
    with on.librdkafka_admin() as admin:
        name = admin.describe_cluster().result(120).cluster_id
    assert printed.text.strip() == f"Cluster ID: {name}"


def test_kafka_metadata_quorum_reports_one_voter(on: Cluster) -> None:
    status = on.tool("MetadataQuorumCommand", "describe", "--status").text
    reported = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    assert reported["LeaderId"].strip() == "1"
    assert int(reported["HighWatermark"]) > 0
    assert reported["CurrentObservers"].strip() == "[]"
    replication = on.tool("MetadataQuorumCommand", "describe", "--replication").text
    header, voter = replication.strip().splitlines()[-2:]
    row = dict(zip(header.split(), voter.split(), strict=False))
    assert (row["NodeId"], row["Lag"], voter.split()[-1]) == ("1", "0", "Leader")


def test_kafkas_perf_tools_write_and_read_what_they_say(on: Cluster, topic: str) -> None:
    create_topic(on.bootstrap, topic, partitions=3)
    written = run_tool(
        on.oracle, "org.apache.kafka.tools.ProducerPerformance", "--topic", topic,
        "--num-records", "2000", "--record-size", "100", "--throughput", "-1",
        "--producer-props", f"bootstrap.servers={on.bootstrap}", "acks=all", "linger.ms=1",
    )  # fmt: skip
    assert written.status == 0, written
    assert "2000 records sent" in written.text
    read = on.tool("ConsumerPerformance", "--topic", topic, "--messages", "2000")
    figures = read.text.splitlines()[-1].split(", ")
    assert figures[4] == "2000"
