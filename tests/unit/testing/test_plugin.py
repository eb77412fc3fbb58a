"""The pytest plugin, as projects use it: test runs within the test run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from ottla.testing.broker import RunningBroker
from ottla.testing.external import problem_with
from ottla.testing.plugin import external_servers

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.xdist_group("pytest-plugin")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningBroker]:
    """For the runs with an option that names an existing cluster."""
    with RunningBroker() as running:
        yield running


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTTLA_TESTING_KAFKA", "KAFKA_BOOTSTRAP_SERVERS"):
        monkeypatch.delenv(name, raising=False)


def run(pytester: pytest.Pytester, cluster: RunningBroker, *words: str) -> pytest.RunResult:
    """In this process, with the cluster that is there already: quick."""
    return pytester.runpytest_inprocess(f"--kafka=external:{cluster.bootstrap_servers}", *words)


def test_a_test_gets_a_broker_and_topics_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from confluent_kafka import Producer

        def test_writing_with_any_client(kafka, kafka_broker):
            assert kafka.bootstrap_servers == kafka_broker.bootstrap_servers
            topic = kafka.topic("orders", partitions=3)
            producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
            producer.produce(topic, b"by itself")
            producer.flush()
            kafka.produce("orders", ["text", {"a": 1}, ("key", None)])
            kafka.assert_messages(
                topic, [{"a": 1}, ("key", None), "by itself", "text"], any_order=True
            )

        def test_the_same_name_is_another_topic(kafka):
            kafka.topic("orders")
            assert kafka.consume("orders") == []

        def test_the_broker_stays(kafka_broker):
            assert kafka_broker.is_running
            assert kafka_broker.get_bootstrap_server() == kafka_broker.bootstrap_servers
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=3)


def test_the_same_tests_run_on_another_cluster(
    pytester: pytest.Pytester, cluster: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        """
        def test_where(kafka, kafka_broker):
            kafka.topic("t")
            assert [each.offset for each in kafka.produce("t", ["a", "b"])] == [0, 1]
            assert [each.text for each in kafka.consume("t", 2)] == ["a", "b"]
            print("on", kafka.bootstrap_servers)
        """
    )
    for words, variables in (
        ([f"--kafka=external:{cluster.bootstrap_servers}"], {}),
        (["--kafka=external"], {"KAFKA_BOOTSTRAP_SERVERS": cluster.bootstrap_servers}),
        ([], {"OTTLA_TESTING_KAFKA": f"external:{cluster.bootstrap_servers}"}),
    ):
        with monkeypatch.context() as patch:
            for name, text in variables.items():
                patch.setenv(name, text)
            result = pytester.runpytest_inprocess("-s", *words)
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines([f"*on {cluster.bootstrap_servers}*"])


def test_topics_are_gone_after_the_test(pytester: pytest.Pytester, cluster: RunningBroker) -> None:
    pytester.makepyfile(
        """
        def test_make(kafka):
            kafka.topic("one")
            kafka.topic("two", config={"cleanup.policy": "compact"})

        def test_look(kafka):
            names = kafka.admin.list_topics(timeout=60).topics
            assert not [name for name in names if name.startswith("test-")]
        """
    )
    run(pytester, cluster).assert_outcomes(passed=2)


def test_a_failure_shows_what_was_found_what_the_topics_hold_and_what_the_broker_said(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture(scope="session")
        def kafka_config():
            return {"num.partitions": "2"}
        """
    )
    pytester.makepyfile(
        """
        def test_wrong(kafka, kafka_broker):
            with open(kafka_broker.log_path, "a") as log:
                log.write("a line of the broker's log\\n")
            kafka.topic("t")
            kafka.produce("t", [("k", "what came")])
            kafka.assert_messages("t", ["what was expected"])

        def test_settings_reach_the_broker(kafka):
            name = kafka.name("made-by-writing")
            kafka.produce(name, ["x"])
            assert len(kafka.admin.list_topics(timeout=60).topics[name].partitions) == 2
            assert False
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: t: 1 of 1 record differs from what is expected",
            "*missing     'what was expected'",
            "*unexpected  [[]0@0[]] 'k': 'what came'",
            "*- Kafka broker log -*",
            "a line of the broker's log",
            "*- Kafka topics of this test -*",
            "t (test-*-t): 1 record",
            "  [[]0@0[]] 'k': 'what came'",
        ]
    )
    reported = result.stdout.str()
    assert reported.count("a line of the broker's log") == 2  # the source, and the first report
    assert "assert False" in reported
    assert "kafka.py:" not in reported  # the helper's own frames are left out


def test_waiting_for_what_does_not_come_ends_with_what_did(
    pytester: pytest.Pytester, cluster: RunningBroker
) -> None:
    pytester.makepyfile(
        """
        import pytest

        def test_too_few(kafka):
            kafka.topic("t")
            kafka.produce("t", "only one")
            with pytest.raises(AssertionError, match="expected 2 records in t within 0.2 s") as e:
                kafka.consume("t", 2, timeout=0.2)
            assert "[0@0] 'only one'" in str(e.value)

        def test_too_many(kafka):
            kafka.topic("t")
            kafka.produce("t", ["a", "b"])
            with pytest.raises(AssertionError, match="expected 1 record, found 2"):
                kafka.assert_messages("t", ["a"])
            assert [each.text for each in kafka.consume("t", 1)] == ["a"]

        def test_no_topic(kafka):
            with pytest.raises(AssertionError, match="there is no topic"):
                kafka.consume(kafka.name("nothing"))
        """
    )
    run(pytester, cluster).assert_outcomes(passed=3)


def test_a_groups_lag_can_be_awaited(pytester: pytest.Pytester, cluster: RunningBroker) -> None:
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka import Consumer

        def test_lag(kafka):
            topic = kafka.topic("t", partitions=2)
            kafka.produce(topic, [("a", "1"), ("b", "2"), ("c", "3")])
            group = kafka.name("group")
            with pytest.raises(AssertionError, match="lags 3 records in t"):
                kafka.wait_lag_zero(group, "t", timeout=0.1)
            consumer = Consumer({
                "bootstrap.servers": kafka.bootstrap_servers,
                "group.id": group, "auto.offset.reset": "earliest",
            })
            consumer.subscribe([topic])
            assert len(consumer.consume(3, 120)) == 3
            consumer.close()
            kafka.wait_lag_zero(group, "t")
        """
    )
    run(pytester, cluster).assert_outcomes(passed=1)


def test_every_process_of_xdist_has_a_broker_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_alone(kafka, number):
            kafka.topic("t")
            kafka.produce("t", [str(number)])
            kafka.assert_messages("t", [str(number)])
        """
    )
    pytester.runpytest_subprocess("-n2").assert_outcomes(passed=4)


def test_a_run_that_uses_none_of_it_loads_none_of_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing():
            loaded = {name for name in sys.modules if name.split(".")[0] == "ottla"}
            assert loaded == {"ottla", "ottla.testing", "ottla.testing.plugin"}
            assert "confluent_kafka" not in sys.modules
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_place_that_makes_no_sense_is_refused(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the variable; a wrong option ends the run before it begins."""
    monkeypatch.setenv("OTTLA_TESTING_KAFKA", "docker")
    pytester.makepyfile("def test_kafka(kafka): pass")
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*$OTTLA_TESTING_KAFKA=docker: expected ottla or external:HOST:PORT*"]
    )


@pytest.mark.parametrize(
    ("given", "environment", "servers"),
    [
        (None, {}, None),
        ("ottla", {"OTTLA_TESTING_KAFKA": "external:b:2"}, None),
        (None, {"KAFKA_BOOTSTRAP_SERVERS": "production:9092"}, None),
        ("external:a:1", {}, "a:1"),
        ("external:a:1,b:2", {"KAFKA_BOOTSTRAP_SERVERS": "c:3"}, "a:1,b:2"),
        ("external", {"KAFKA_BOOTSTRAP_SERVERS": "c:3"}, "c:3"),
        (None, {"OTTLA_TESTING_KAFKA": "external:b:2"}, "b:2"),
    ],
)
def test_another_cluster_is_used_only_when_it_is_asked_for(
    given: str | None, environment: dict[str, str], servers: str | None
) -> None:
    assert external_servers(given, environment) == servers


def test_a_cluster_that_is_not_there_is_named_at_once() -> None:
    problem = problem_with("127.0.0.1:1, [::1]:1")
    assert problem is not None
    assert "no broker answers on 127.0.0.1:1: " in problem
    assert "no broker answers on [::1]:1: " in problem


BAD_ADDRESSES = {
    "127.0.0.1:65536": "'127.0.0.1:65536': ports are 1 to 65535",
    "127.0.0.1:x": "'127.0.0.1:x' is not HOST:PORT: 'x' is not a port number",
    "127.0.0.1:1,http://127.0.0.1:1": "'http://127.0.0.1:1': expected HOST:PORT without http://",
}


@pytest.mark.parametrize("servers", BAD_ADDRESSES)
def test_an_address_that_is_none_is_refused_before_anything_connects(servers: str) -> None:
    reported = BAD_ADDRESSES[servers]
    assert problem_with(servers) == reported
    for given, environment, name in (
        (f"external:{servers}", {}, "--kafka"),
        (None, {"OTTLA_TESTING_KAFKA": f"external:{servers}"}, "$OTTLA_TESTING_KAFKA"),
        ("external", {"KAFKA_BOOTSTRAP_SERVERS": servers}, "$KAFKA_BOOTSTRAP_SERVERS"),
    ):
        with pytest.raises(pytest.UsageError) as caught:
            external_servers(given, environment)
        assert str(caught.value) == f"{name}: {reported}"


@pytest.mark.parametrize("given", ["external", "external:", "kafka", "ottla:x"])
def test_a_choice_that_is_none_is_an_error(given: str) -> None:
    with pytest.raises(pytest.UsageError, match="HOST:PORT"):
        external_servers(given, {})


def test_a_broker_ends_with_the_process_that_started_it() -> None:
    code = (
        "import os, signal; from ottla.testing import Broker; broker = Broker(); broker.start();"
        "print(broker.pid, broker.data, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    pid, data = done.stdout.split()
    wait_for_end(int(pid))
    subprocess.run(["rm", "-r", data], check=True)


def wait_for_end(pid: int) -> None:
    import os
    import select

    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ended = select.poll()
        ended.register(descriptor)
        assert ended.poll(120_000), f"process {pid} is still there"
    finally:
        os.close(descriptor)
