"""A pytest plugin: a real broker for the tests of any project.

    def test_orders_are_counted(kafka):
        topic = kafka.topic("orders", partitions=3)
        kafka.produce(topic, [{"id": 1}, {"id": 2}])
        run_the_program_under_test(kafka.bootstrap_servers, topic)
        kafka.assert_messages(kafka.name("counts"), [{"count": 2}])

`kafka_broker` is one broker for the run (one for each process of pytest-xdist), `kafka` is what one
test does with it. `--kafka=external:host:9092` runs the same tests on another cluster. `spark` is
one Spark session for the run, where pyspark is installed.

Promises  costs next to nothing in runs that use none of it: the rest of Ottla is imported, and a
          broker is started, only by the fixtures.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ottla.testing.broker import RunningBroker
    from ottla.testing.clients import Clients
    from ottla.testing.external import ExternalCluster
    from ottla.testing.kafka import Kafka

VARIABLE = "OTTLA_TESTING_KAFKA"  # the same words as --kafka
SERVERS_VARIABLE = "KAFKA_BOOTSTRAP_SERVERS"
OWN = "ottla"
EXTERNAL = "external"


_BROKER = pytest.StashKey["RunningBroker"]()
_LOG_POSITION = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kafka", "a Kafka broker for tests")
    group.addoption(
        "--kafka",
        metavar="WHERE",
        help=f"{OWN}: start a broker (default); {EXTERNAL}:HOST:PORT: use that one; {EXTERNAL}: "
        f"the one that ${SERVERS_VARIABLE} names. Also ${VARIABLE}",
    )
    group.addoption(
        "--kafka-log-level",
        default="INFO",
        choices=["DEBUG", "INFO", "WARNING", "ERROR"],
        help="what the broker writes to its log, which failing tests show (INFO)",
    )


def external_servers(given: str | None, environment: Mapping[str, str]) -> str | None:
    """The cluster that was asked for; None for a broker of our own.

    An address in the environment alone asks for nothing: it may be there for the program under
    test, and name a cluster that tests had better leave alone.
    """
    where = given or environment.get(VARIABLE) or OWN
    kind, _, servers = where.partition(":")
    if where == OWN:
        return None
    if kind != EXTERNAL:
        raise pytest.UsageError(f"--kafka={where}: expected {OWN} or {EXTERNAL}:HOST:PORT")
    servers = servers or environment.get(SERVERS_VARIABLE, "")
    if not servers:
        raise pytest.UsageError(
            f"--kafka={EXTERNAL} needs {EXTERNAL}:HOST:PORT or ${SERVERS_VARIABLE}"
        )
    return servers


# Fixtures


@pytest.fixture(scope="session")
def kafka_config() -> Mapping[str, str]:
    """Settings of the broker, under Kafka's names; a conftest.py may define its own."""
    return {}


@pytest.fixture(scope="session")
def kafka_broker(
    pytestconfig: pytest.Config, kafka_config: Mapping[str, str]
) -> Iterator[RunningBroker | ExternalCluster]:
    """A running broker, for the whole test run."""
    servers = external_servers(pytestconfig.getoption("--kafka"), os.environ)
    if servers is not None:
        from ottla.testing.external import ExternalCluster, problem_with

        if (problem := problem_with(servers)) is not None:
            raise pytest.UsageError(f"--kafka={EXTERNAL}:{servers}: {problem}")
        yield ExternalCluster(servers)
        return
    from ottla.testing.broker import RunningBroker

    level = pytestconfig.getoption("--kafka-log-level")
    with RunningBroker(config=kafka_config, log_level=level) as broker:
        pytestconfig.stash[_BROKER] = broker
        yield broker
        del pytestconfig.stash[_BROKER]


@pytest.fixture(scope="session")
def _kafka_clients(kafka_broker: RunningBroker | ExternalCluster) -> Clients:
    from ottla.testing.clients import Clients

    return Clients(kafka_broker.bootstrap_servers)


@pytest.fixture
def kafka(_kafka_clients: Clients) -> Iterator[Kafka]:
    """Kafka for one test: names of its own, topics that are gone afterwards."""
    from ottla.testing.kafka import Kafka

    helper = Kafka(_kafka_clients)
    yield helper
    helper.close()


@pytest.fixture(scope="session")
def spark_config() -> Mapping[str, str]:
    """Settings of the Spark session, under Spark's names; a conftest.py may define its own."""
    return {}


@pytest.fixture(scope="session")
def spark(spark_config: Mapping[str, str]) -> Iterator[Any]:
    """A running Spark session, for the whole test run. Topics are `format("ottla")`."""
    pytest.importorskip("pyspark", reason="needs Spark: pip install 'ottla[spark]'")
    from ottla.testing.spark import spark_session

    with spark_session(spark_config) as session:
        yield session


# Reports


def pytest_runtest_setup(item: pytest.Item) -> None:
    broker = item.config.stash.get(_BROKER, None)
    if broker is not None:
        item.stash[_LOG_POSITION] = len(broker.log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and "kafka_broker" in getattr(item, "fixturenames", ()):
        report.sections += sections_of(item, is_call=report.when == "call")
    return report


def sections_of(item: pytest.Item, *, is_call: bool) -> list[tuple[str, str]]:
    """What the broker said during the test, and what its topics hold."""
    sections = []
    broker = item.config.stash.get(_BROKER, None)
    log = "" if broker is None else broker.log[item.stash.get(_LOG_POSITION, 0) :]
    if log:
        sections.append(("Kafka broker log", log))
    kafka = getattr(item, "funcargs", {}).get("kafka")
    if kafka is not None and is_call and (content := dumped(kafka)):
        sections.append(("Kafka topics of this test", content))
    return sections


def dumped(kafka: Any) -> str:
    try:
        return str(kafka.dump())
    except Exception as error:  # a report about one failure must not fail for another
        return f"could not be read: {error}"
