"""The plugin's brokers: what a test does to one does not reach the next test.

One inner run of pytest is shared by the checks of each part: starting it takes the most time.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest

from ottla.testing.broker import RunningBroker

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.xdist_group("pytest-plugin")

SHARED = """
    import os
    import signal
    import time

    import pytest
    from confluent_kafka import Consumer

    def write_and_read(kafka):
        kafka.topic("t")
        kafka.produce("t", "x")
        kafka.assert_messages("t", "x")

    def test_kills(kafka, kafka_broker):
        kafka.topic("left")
        kafka_broker.kill()

    def test_after_a_kill(kafka, kafka_broker):
        assert kafka_broker.is_running
        assert not kafka.admin.list_topics(timeout=60).topics.keys() - {"__consumer_offsets"}
        write_and_read(kafka)

    def test_sends_a_signal(kafka_broker):
        os.kill(kafka_broker.pid, signal.SIGKILL)

    def test_after_a_signal(kafka, kafka_broker):
        assert kafka_broker.is_running
        write_and_read(kafka)

    def test_sends_a_stop(kafka_broker):
        os.kill(kafka_broker.pid, signal.SIGSTOP)

    def test_after_a_stop(kafka):
        write_and_read(kafka)

    def test_pauses(kafka, kafka_broker):
        write_and_read(kafka)
        kafka_broker.pause()

    def test_after_a_pause(kafka):
        write_and_read(kafka)

    def test_fails_with_a_dead_broker(kafka, kafka_broker):
        kafka.topic("t")
        kafka_broker.kill()
        assert 1 == 2

    def test_fails_in_a_topic_that_is_full(kafka, kafka_broker):
        kafka.topic("long")
        kafka.produce("long", ["y" * 100_000] * 100)
        with open(kafka_broker.log_path, "a") as log:
            log.write("a line of the log\\n" * 1000)
        assert 1 == 2

    def test_makes_a_topic_and_a_group_by_plain_names(kafka):
        topic = kafka.topic("t")
        kafka.produce("t", "x")
        from confluent_kafka import Producer
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
        producer.produce("orders", b"x")
        producer.flush()
        consumer = Consumer({
            "bootstrap.servers": kafka.bootstrap_servers,
            "group.id": "billing", "auto.offset.reset": "earliest",
        })
        consumer.subscribe([topic])
        assert consumer.poll(120).value() == b"x"
        consumer.commit(asynchronous=False)
        consumer.close()
        kafka.assert_messages("orders", "x")

    def test_finds_neither_topic_nor_group(kafka):
        with pytest.raises(AssertionError, match="there is no topic orders; kafka.topic"):
            kafka.consume("orders")
        with pytest.raises(RuntimeError, match="there is no topic orders.* this test: none"):
            kafka.produce("orders", "x")
        assert "orders" not in kafka.admin.list_topics(timeout=60).topics
        assert kafka.admin.list_consumer_groups().result(60).valid == []

    def test_a_fresh_broker(kafka, fresh_kafka_broker, kafka_broker):
        assert kafka.bootstrap_servers == fresh_kafka_broker.bootstrap_servers
        assert kafka.bootstrap_servers != kafka_broker.bootstrap_servers
        write_and_read(kafka)
        fresh_kafka_broker.kill()
        assert kafka_broker.is_running

    @pytest.fixture
    def fresh_kafka_config():
        return {"num.partitions": 7}

    @pytest.mark.usefixtures("fresh_kafka_broker")
    def test_another_fresh_broker(kafka):
        kafka.produce(kafka.name("auto"), "x")
        found = kafka.admin.list_topics(timeout=60).topics
        assert [len(topic.partitions) for topic in found.values()] == [7]
"""


@pytest.fixture(scope="module")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output of one run on the broker that its tests share."""
    directory = tmp_path_factory.mktemp("shared")
    (directory / "test_shared.py").write_text(textwrap.dedent(SHARED))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", str(directory)],
        cwd=directory, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    return done.stdout


def report_of(test: str, output: str) -> str:
    """What the run says about one failed test."""
    return re.split(r"\n(?:____|====)", output.partition(f"_ {test} _")[2])[0]


def test_a_killed_or_paused_broker_runs_again_for_the_next_test(shared_run: str) -> None:
    for name in (
        "test_after_a_kill",
        "test_after_a_signal",
        "test_after_a_stop",
        "test_after_a_pause",
    ):
        assert f"PASSED test_shared.py::{name}" in shared_run


def test_whoever_left_the_broker_stopped_or_paused_is_named(shared_run: str) -> None:
    reported = shared_run.partition("warnings summary")[2]
    assert "test_shared.py::test_kills left the Kafka broker stopped (exit code -9)" in reported
    assert (
        "test_shared.py::test_sends_a_signal left the Kafka broker stopped (exit code" in reported
    )
    assert "test_shared.py::test_sends_a_stop left the Kafka broker paused" in reported
    assert "test_shared.py::test_pauses left the Kafka broker paused" in reported
    assert "fixture fresh_kafka_broker" in reported


def test_topics_and_groups_do_not_reach_the_next_test(shared_run: str) -> None:
    assert "PASSED test_shared.py::test_makes_a_topic_and_a_group_by_plain_names" in shared_run
    assert "PASSED test_shared.py::test_finds_neither_topic_nor_group" in shared_run


def test_a_test_may_have_a_broker_to_itself(shared_run: str) -> None:
    assert "PASSED test_shared.py::test_a_fresh_broker" in shared_run
    assert "PASSED test_shared.py::test_another_fresh_broker" in shared_run


def test_a_report_names_a_broker_that_is_not_running(shared_run: str) -> None:
    report = report_of("test_fails_with_a_dead_broker", shared_run)
    assert "assert 1 == 2" in report
    assert "the broker is not running (exit code -9)" in report


def test_a_report_stays_short(shared_run: str) -> None:
    report = report_of("test_fails_in_a_topic_that_is_full", shared_run)
    assert "... 980 lines before these ..." in report
    assert report.count("a line of the log") == 21  # one is in the source
    assert "long (test-" in report
    assert "(100000 bytes)" in report
    assert len(report.splitlines()) < 80
    assert len(report) < 12_000
    assert " INFO " not in shared_run


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningBroker]:
    """For the runs with an option that names an existing cluster."""
    with RunningBroker() as running:
        yield running


def test_an_external_cluster_is_cleaned_and_tests_beyond_it_are_skipped(
    pytester: pytest.Pytester, cluster: RunningBroker
) -> None:
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka import Consumer, TopicPartition

        def test_kill(kafka, kafka_broker):
            kafka_broker.kill()

        def test_log(kafka_broker):
            kafka_broker.log

        def test_fresh(kafka, fresh_kafka_broker):
            pass

        def test_typo(kafka_broker):
            with pytest.raises(AttributeError, match="no attribute 'kil'"):
                kafka_broker.kil

        def test_leaves_things(kafka):
            topic = kafka.topic("t")
            kafka.produce(kafka.name("by-writing"), "x")
            consumer = Consumer({
                "bootstrap.servers": kafka.bootstrap_servers, "group.id": kafka.name("group"),
            })
            consumer.commit(offsets=[TopicPartition(topic, 0, 0)], asynchronous=False)
            consumer.close()
            kafka.wait_lag_zero("group", "t")

        def test_finds_nothing_of_it(kafka):
            found = kafka.admin.list_topics(timeout=60).topics
            assert [name for name in found if name.startswith("test-")] == []
            assert "someone's" not in found
            groups = kafka.admin.list_consumer_groups().result(60).valid
            assert [each.group_id for each in groups] == []
        """
    )
    where = f"--kafka=external:{cluster.bootstrap_servers}"
    result = pytester.runpytest_inprocess("-rs", where)
    result.assert_outcomes(passed=3, skipped=3)
    result.stdout.fnmatch_lines_random(
        [
            "*kafka_broker.kill needs a broker of our own: not with --kafka=external*",
            "*kafka_broker.log needs a broker of our own: not with --kafka=external*",
            "*fresh_kafka_broker: needs a broker of our own, not --kafka=external*",
        ]
    )


def test_a_broker_that_cannot_start_again_fails_the_tests_after_it_at_once(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        def test_ruins(kafka_broker):
            kafka_broker.kill()
            kafka_broker._config["no.such.setting"] = "1"

        def test_later(kafka):
            pass

        def test_without():
            pass
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, errors=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at setup of test_later*",
            "the Kafka broker is gone since *::test_ruins and cannot be started: ended with*",
            "*no.such.setting: no such setting*",
        ]
    )


def test_a_broker_that_does_not_start_is_one_short_error(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def kafka_config():
            return {"no.such.setting": 1}
        """
    )
    pytester.makepyfile("def test_kafka(kafka): pass")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["the Kafka broker did not start: ended with code 2:"])
    assert len(result.outlines) < 20
