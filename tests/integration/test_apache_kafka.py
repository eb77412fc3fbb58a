"""The Apache Kafka that tests run beside: it starts, serves, survives being killed, and ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.apache_kafka import ApacheKafka, KafkaDidNotStart
from tests.support.java_clients import CLOSE, FLUSH, JavaClients, run_tool, send
from tests.support.java_process import JavaProcess
from tests.support.kafka_jars import helper_classes, kafka_libs
from tests.support.oracle import Oracle

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]


def test_jars_and_classes_are_made_once() -> None:
    libs, classes = kafka_libs(), helper_classes()
    made_ns = (libs.stat().st_ctime_ns, classes.stat().st_ctime_ns)
    assert kafka_libs() == libs
    assert helper_classes() == classes
    assert (libs.stat().st_ctime_ns, classes.stat().st_ctime_ns) == made_ns
    assert (libs / "kafka-clients-4.3.1.jar").exists()


def test_java_clients_write_and_read_a_topic(oracle: Oracle, apache_kafka: ApacheKafka) -> None:
    clients = JavaClients(oracle, apache_kafka.bootstrap)
    topic_id = clients.create_topic("greetings", configs={"retention.ms": "-1"})
    reported = [
        send("greetings", b"hello", key=b"k", timestamp=1_000, headers=(("h", None), ("h", b"2"))),
        send("greetings", None, timestamp=2_000),
    ]
    assert clients.produce("writer", [*reported, FLUSH, CLOSE]) == [(0, 0), (0, 1)]
    first, second = clients.consume("greetings")
    assert (first.offset, first.timestamp, first.key, first.value) == (0, 1_000, b"k", b"hello")
    assert (first.headers, first.timestamp_type) == ((("h", None), ("h", b"2")), "CreateTime")
    assert (second.offset, second.key, second.value) == (1, None, None)
    assert clients.offsets("greetings") == (0, 2)
    assert clients.offsets_for_times("greetings", [1_500, 2_001]) == [(1, 2_000), None]
    metadata = apache_kafka.log_directory / "greetings-0" / "partition.metadata"
    assert len(topic_id) == 16
    assert metadata.exists()


def test_a_killed_node_starts_again_with_what_was_written(tmp_path: Path, oracle: Oracle) -> None:
    with ApacheKafka(tmp_path / "kafka") as node:
        clients = JavaClients(oracle, node.bootstrap)
        clients.create_topic("kept")
        clients.produce("before", [send("kept", b"1"), FLUSH, CLOSE])
        node.kill()
        assert not (node.log_directory / ".kafka_cleanshutdown").exists()
        node.start()
        clients.produce("after", [send("kept", b"2"), FLUSH, CLOSE])
        assert [record.value for record in clients.consume("kept")] == [b"1", b"2"]
        node.stop()
        assert (node.log_directory / ".kafka_cleanshutdown").exists()


def test_a_node_that_cannot_start_says_why(tmp_path: Path) -> None:
    node = ApacheKafka(tmp_path / "kafka", {"num.io.threads": "many"})
    with pytest.raises(KafkaDidNotStart, match=r"num\.io\.threads"):
        node.start()


def test_a_java_process_ends_when_its_parent_dies(tmp_path: Path) -> None:
    """Its standard input closes then, whichever process held the other end."""
    process = JavaProcess("interop.Oracle", log_path=tmp_path / "log")
    process.stdin.close()
    assert process.stdout.read() == b""
    process._process.wait(120)
    assert not process.is_running
    process.close()


def test_a_tool_that_fails_gives_its_status_and_its_words(oracle: Oracle) -> None:
    printed = run_tool(oracle, "org.apache.kafka.tools.DumpLogSegments")
    assert printed.status == 1
    assert "REQUIRED: The comma separated list" in printed.complaints
