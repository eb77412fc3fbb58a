"""The fixture `kafka_cluster`: three brokers that tests may kill.

One inner run of pytest for all checks: it starts one cluster.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("pytest-plugin")]

TESTS = """
    import os

    import pytest
    from ottla.testing import BrokerFailed, Cluster

    @pytest.fixture(scope="session")
    def kafka_config():
        return {"num.partitions": 7}

    def test_kills_the_controller(kafka_cluster, kafka):
        assert isinstance(kafka_cluster, Cluster)
        assert len(kafka_cluster.bootstrap_servers.split(",")) == 3
        assert kafka.bootstrap_servers == kafka_cluster.bootstrap_servers
        topic = kafka.topic("t", partitions=6)
        leaders = kafka.admin.list_topics(topic, timeout=60).topics[topic].partitions.values()
        assert {each.leader for each in leaders} == {1, 2, 3}
        controller = kafka_cluster.controller_id()
        kafka_cluster.kill(controller)
        assert kafka_cluster.controller_id() in {1, 2, 3} - {controller}
        kafka_cluster.start(controller)
        kafka.produce(topic, ["a", "b"])
        kafka.assert_messages(topic, ["a", "b"], any_order=True)

    def test_mistakes(kafka_cluster, kafka):
        topic = kafka.topic("t")
        with pytest.raises(BrokerFailed, match="has no broker 9; it has 1, 2, 3"):
            kafka_cluster.kill(9)
        with pytest.raises(BrokerFailed, match="it has none: it was not started"):
            Cluster(zookeeper="localhost:1").pause(1)
        kafka_cluster.kill(1)
        kafka_cluster.kill(2)
        while len(kafka.admin.list_topics(topic, timeout=60).topics[topic].partitions[0].isrs) > 1:
            pass  # until then the leader takes the record
        with pytest.raises(RuntimeError, match="partition 0: 1 of 3 in sync"):
            kafka.produce(topic, "is not written")
        kafka_cluster.start(1)
        kafka_cluster.start(2)
        kafka.produce(topic, "is written")
        kafka.assert_messages(topic, "is written")

    def test_leaves_no_broker_that_answers(kafka_cluster, kafka):
        kafka.topic("left")
        kafka_cluster.kill(1)
        assert kafka_cluster.stop(2) == 0
        kafka_cluster.pause(3)
        with pytest.raises(BrokerFailed, match="no broker of the cluster is running"):
            kafka_cluster.controller_id()

    def test_finds_all_of_them_again_and_no_topics(kafka_cluster, kafka):
        assert all(each.is_running for each in kafka_cluster.brokers.values())
        assert not kafka_cluster.brokers[3].is_paused
        assert kafka_cluster.controller_id() in kafka_cluster.ids
        assert not kafka.admin.list_topics(timeout=60).topics.keys() - {"__consumer_offsets"}
        assert kafka_cluster.brokers[1]._config["num.partitions"] == "7"

    def test_fails(kafka_cluster, kafka):
        with open(kafka_cluster.brokers[2].log_path, "a") as log:
            log.write("a line of broker 2\\n")
        pids = [each.pid for each in kafka_cluster.brokers.values()]
        with open("processes", "w") as file:
            file.write(" ".join(map(str, [*pids, kafka_cluster.zookeeper.pid])))
        assert 1 == 2
"""


def test_tests_may_kill_brokers_and_the_next_one_finds_them_running(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(TESTS)
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(
        ["*Kafka broker log (2 of the cluster)*", "a line of broker 2", "*1 failed, 4 passed*"]
    )
    result.stdout.no_fnmatch_line("*Kafka broker log ---*")
    pids = (pytester.path / "processes").read_text().split()
    assert len(pids) == 4
    assert [pid for pid in pids if Path("/proc", pid).exists()] == []


def test_without_java_or_on_another_cluster_the_reason_is_short(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile("def test_cluster(kafka_cluster): pass")
    external = pytester.runpytest_subprocess("-rs", "--kafka=external:127.0.0.1:1")
    external.assert_outcomes(skipped=1)
    external.stdout.fnmatch_lines(["*kafka_cluster: needs a cluster of our own*"])
    monkeypatch.setenv("PATH", str(pytester.path))
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [
            "the Kafka cluster did not start: ZooKeeper ended with code 1:",
            "ottla zookeeper: ZooKeeper needs Java, and there is no java on the PATH",
            "  install a Java runtime, for example: apt install default-jre-headless",
        ]
    )
    assert len(result.outlines) < 20
