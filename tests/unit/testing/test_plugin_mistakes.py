"""Mistakes in tests are reported at once, in words, and without frames of the plugin."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("pytest-plugin")

# Each line is a test, and what its report has to contain.
MISTAKES = {
    'kafka.produce(["a"], "t")': "TypeError: ['a'] is not the name of a topic",
    'kafka.produce(None, "x")': "TypeError: None is not the name of a topic",
    'kafka.produce("orders", "x")': "RuntimeError: there is no topic orders; kafka.topic()",
    'kafka.consume("orders")': "AssertionError: there is no topic orders; kafka.topic()",
    'kafka.wait_lag_zero("g", "orders")': "AssertionError: there is no topic orders",
    'kafka.wait_lag_zero("g", "t", timeout=0.1)': "group g lags 1 record in t and has committed",
    'kafka.produce("t", [("k", "v", "h")])': "TypeError: ('k', 'v', 'h') has 3 parts",
    'kafka.produce("t", ("k", "v"))': "TypeError: ('k', 'v') may be one row, (key, value), or",
    'kafka.produce("t", {"at": object})': "is no key, value or header: Object of type type is not",
    'kafka.produce("t", "x" * 2_000_000)': "size too large; the limit is the setting max.message",
    'kafka.produce("t", Record("x", partition="0"))': "Record: partition='0' is not a whole numb",
    'kafka.produce("t", Record("x", partition=-5))': "ValueError: Record: partition=-5: it is 0 or",
    'kafka.produce("t", Record("x", timestamp_ms=1.5))': "timestamp_ms=1.5 is not a whole number",
    'kafka.produce("t", Record("x", timestamp_ms=2**63))': "775808: it is 0 or more, or left out",
    'kafka.produce("t", Record("x", headers={1: "a"}))': "TypeError: headers={1: 'a'}: expected",
    'kafka.assert_messages("t", [Record("x", partition="0")])': "Record: partition='0' is not a w",
    'kafka.produce(kafka.topic("c", config={"cleanup.policy": ["compact"]}), "x")': "with a key",
    'kafka.topic("d", config={"retention.ms": timedelta(1)})': "is neither text nor a number, bool",
    'Kafka(["localhost:9092"])': "TypeError: ['localhost:9092'] is neither an address nor a broker",
    'kafka.produce("t", Record("x", partition=5))': "RuntimeError: writing to t: there is no part",
    'kafka.topic("my topic")': "RuntimeError: topic my topic cannot be created: Topic name is inv",
    'kafka.topic("t")': "RuntimeError: topic t cannot be created: Topic 'test-",
    'kafka.topic("u", {"retention.ms": 1})': "is not a number; settings are config=",
    'kafka.topic("u", config={"retention": 1})': "topic u cannot be created: Unknown topic config",
    'kafka.consume("t", 3, timeout=0.1)': "AssertionError: expected 3 records in t within 0.1 s, f",
    'kafka.assert_messages("t", "y")': "AssertionError: t: 1 of 1 record differs from what is exp",
    'kafka.assert_messages("t", Record("x", timestamp_ms=5))': "unexpected  [0@0] 'x' timestamp_ms",
    'kafka.produce("t", True); kafka.assert_messages("t", ["x", 1])': "1 of 2 records differs from",
    "broker.clock.advance(timedelta(days=-1))": "ValueError: a clock does not go back",
    'broker.faults.fail("Producer", 1)': "ValueError: Kafka has no API 'Producer'; do you mean",
    'broker.faults.fail("Fetch", "NO")': "ValueError: Kafka has no error code 'NO'; do you mean",
    'broker.faults.fail("Fetch", 1, nth=0)': "ValueError: nth=0: the next request is 1",
    'broker.faults.delay("Fetch", "3")': "TypeError: seconds='3' is not a number of seconds",
    'broker.faults.delay("Fetch", float("inf"))': "ValueError: seconds=inf is not a time to wait",
    'broker.faults.fail("Fetch", "NONE")': "ValueError: error='NONE' is not an error",
    'broker.faults.fail("Fetch", 1, times=0)': "ValueError: times=0: at least 1, or None for all",
    'broker.faults.fail("Fetch", 1, nth="2")': "TypeError: nth='2' is not a whole number",
    'broker.faults.fail("Fetch", 1, times=1.5)': "TypeError: times=1.5 is not a whole number",
    'broker.faults.fail("ShareFetch", 1)': "ValueError: brokers of Ottla do not serve SHARE_F",
    "broker.faults.fail(9999, 1)": "ValueError: Kafka has no API 9999",
    "broker.faults.fail(None, 1)": "ValueError: Kafka has no API None",
    "broker.clock.advance()": "ValueError: say how far: advance(5) is five seconds",
    'broker.clock.advance("5")': "ValueError: seconds='5' is not a number",
    'broker.clock.advance(hours=float("nan"))': "ValueError: hours=nan is not a number",
    'kafka.topic("")': "ValueError: the name of a topic is empty",
    'kafka.name("")': "ValueError: the name of a topic or group is empty",
    "kafka.name(3)": "TypeError: 3 is not the name of a topic or group",
    'kafka.wait_lag_zero("", "t")': "ValueError: the name of a group is empty",
    'kafka.wait_lag_zero("g", "t", timeout="1")': "TypeError: timeout='1' is not a number of sec",
    'kafka.topic("u", partitions=0)': "ValueError: partitions=0: at least 1",
    'kafka.topic("u", partitions=True)': "TypeError: partitions=True is not a whole number",
    'kafka.topic("u", config=["a"])': "TypeError: config=['a']: expected settings such as",
    'kafka.topic("u", config={"retention.ms": None})': "TypeError: config: 'retention.ms': None is",
    'kafka.produce("t", None)': "TypeError: None may be a tombstone, or no rows at all: put rows",
    'kafka.produce("t", [float("nan")])': "TypeError: nan is no key, value or header: Out of ran",
    'kafka.produce("t", Record("x", headers="h"))': "TypeError: headers='h': expected {name: val",
    'kafka.consume("t", -1)': "ValueError: n=-1: at least 0",
    'kafka.consume("t", "3")': "TypeError: n='3' is not a whole number",
    'kafka.consume("t", 1, timeout=None)': "TypeError: timeout=None is not a number of seconds",
    'kafka.assert_messages("t", "x", timeout=-1)': "ValueError: timeout=-1 is not a time to wait",
    'Kafka("127.0.0.1:1").topic("t")': "RuntimeError: no broker answers on 127.0.0.1:1: [Errno",
    'Kafka("http://127.0.0.1:1").topic("t")': "expected HOST:PORT without http://",
    "Broker(data=__file__).start()": "cannot be used as the directory of a broker: File exists",
    'Broker(config={"num.partitons": 1}).start()': "no such setting; did you mean num.partitions?",
    "with Broker(config={'num.partitions': 0}): pass": "for configuration num.partitions",
    "broker.kill(); broker.pause()": "BrokerFailed: the broker is not running",
    "broker.kill(); broker.clock.advance(5)": "BrokerFailed: the broker is not running",
    "broker.stop(); broker.faults.fill_disk()": "BrokerFailed: the broker is not running",
    "broker.faults.requests('No')": "ValueError: Kafka has no API 'No'",
    "Broker().kill()": "BrokerFailed: the broker was not started",
    'Broker(data="")': "ValueError: data='': name a directory, or leave it out",
    "Broker().clock": "clock: only with Broker(controls=True), or the fixture fresh_kafka_broker",
    "Kafka(Broker().bootstrap_servers)": "ValueError: no address of a broker: was it started?",
    'broker.kill(); kafka.consume("t")': "RuntimeError: the broker is not running (exit code -9)",
    'broker.kill(); kafka.produce("t", "x")': "RuntimeError: the broker is not running (exit cod",
}
HEAD = """
    from datetime import timedelta

    import pytest

    from ottla.testing import Broker, Kafka, Record

    @pytest.fixture(scope="session")
    def only_broker():
        with Broker(controls=True) as broker:
            yield broker

    @pytest.fixture
    def broker(only_broker):
        return only_broker.start()

    @pytest.fixture
    def kafka(broker):
        kafka = Kafka(broker)
        kafka.topic("t")
        kafka.produce("t", "x")
        yield kafka
        broker.start()
        kafka.close()
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What one run says about each of the mistakes."""
    tests = [f"def test_{i}(kafka, broker):\n    {line}\n" for i, line in enumerate(MISTAKES)]
    directory = tmp_path_factory.mktemp("mistakes")
    (directory / "test_it.py").write_text("\n".join([textwrap.dedent(HEAD), *tests]))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--tb=short", "-p", "no:cacheprovider", "test_it.py"],
        cwd=directory, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert f"{len(MISTAKES)} failed in" in done.stdout, done.stdout
    return re.split(r"\n_+ test_\d+ _+\n", done.stdout.partition("short test summary")[0])[1:]


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_described_in_words(line: str, reports: list[str]) -> None:
    report = reports[list(MISTAKES).index(line)]
    assert MISTAKES[line] in report
    assert "ottla/testing" not in report, "a frame of the plugin"


@pytest.mark.parametrize("given", ["", "external", "kafka", "ottla:x"])
def test_a_wrong_choice_of_a_cluster_ends_the_run_before_it_begins(
    given: str, tmp_path: Path
) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): raise AssertionError('was run')\n")
    environment = {name: text for name, text in os.environ.items() if "KAFKA" not in name}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--kafka={given}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert f"--kafka={given}" in done.stderr
    assert "HOST:PORT" in done.stderr
    assert "was run" not in done.stdout


def test_settings_of_a_wrong_type_are_reported_without_frames_of_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "@pytest.fixture(scope='session')\n"
        "def kafka_config(): return ['num.partitions=3']\n"
        "def test_it(kafka): pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert "the fixture kafka_config: config=['num.partitions=3']: expected" in done.stdout
    assert "ottla/testing" not in done.stdout
