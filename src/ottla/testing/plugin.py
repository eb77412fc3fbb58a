"""A pytest plugin: a real broker for the tests of any project.

    def test_orders_are_counted(kafka):
        topic = kafka.topic("orders", partitions=3)
        kafka.produce(topic, [{"id": 1}, {"id": 2}])
        run_the_program_under_test(kafka.bootstrap_servers, topic)
        kafka.assert_messages(kafka.name("counts"), [{"count": 2}])

`kafka_broker` is one broker for the run (one for each process of pytest-xdist), `kafka` is what one
test does with it. A test that uses `fresh_kafka_broker` has a broker to itself, and `kafka` is on
that one; `kafka_clock` and `kafka_faults` are its clock and its faults. `kafka_cluster` is one
cluster of three brokers for the run, which tests may kill; `kafka` is then on the cluster.
`--kafka=external:host:9092` runs the same tests on another cluster. `spark` is one Spark session
for the run, where pyspark is installed.

Promises  costs next to nothing in runs that use none of it: the rest of Ottla is imported, and a
          broker is started, only by the fixtures.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ottla.testing.broker import RunningBroker
    from ottla.testing.clients import Clients
    from ottla.testing.cluster import RunningCluster
    from ottla.testing.controls import BrokerClock, BrokerFaults
    from ottla.testing.external import ExternalCluster
    from ottla.testing.kafka import Kafka

VARIABLE = "OTTLA_TESTING_KAFKA"  # the same words as --kafka
SERVERS_VARIABLE = "KAFKA_BOOTSTRAP_SERVERS"
OTTLA = "ottla"
EXTERNAL = "external"


_BROKER = pytest.StashKey["RunningBroker"]()
_CLUSTER = pytest.StashKey["RunningCluster"]()
_LOG_POSITIONS = pytest.StashKey[dict[Path, int]]()
_LAST_TEST = pytest.StashKey[str]()  # that used the shared broker
_LOST = pytest.StashKey[str]()  # why the shared broker cannot be used again

FRESH = "fresh_kafka_broker"
CLUSTER = "kafka_cluster"
OF_FRESH = ("kafka_clock", "kafka_faults")  # these give the test a broker of its own as well


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kafka", "a Kafka broker for tests")
    group.addoption(
        "--kafka",
        metavar="WHERE",
        help=f"{OTTLA}: start a broker (default); {EXTERNAL}:HOST:PORT: use that one; {EXTERNAL}: "
        f"the one that ${SERVERS_VARIABLE} names. Also ${VARIABLE}",
    )
    group.addoption(
        "--kafka-log-level",
        default="WARNING",
        type=str.upper,
        choices=["DEBUG", "INFO", "WARNING", "ERROR"],
        help="what the broker writes to its log, whose end failing tests show (WARNING)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """A wrong --kafka ends the run before it begins. The variable may be meant for other tests."""
    if (given := config.getoption("--kafka")) is not None:
        external_servers(given, os.environ)


def external_servers(given: str | None, environment: Mapping[str, str]) -> str | None:
    """The cluster that was asked for; None for a broker of our own.

    An address in the environment alone asks for nothing: it may be there for the program under
    test, and name a cluster that tests had better leave alone.
    """
    where = (environment.get(VARIABLE) or OTTLA) if given is None else given
    name = f"${VARIABLE}" if given is None else "--kafka"
    kind, _, servers = where.partition(":")
    if where == OTTLA:
        return None
    if kind != EXTERNAL:
        raise pytest.UsageError(f"{name}={where}: expected {OTTLA} or {EXTERNAL}:HOST:PORT")
    if not servers:
        name, servers = f"${SERVERS_VARIABLE}", environment.get(SERVERS_VARIABLE, "")
    if not servers:
        raise pytest.UsageError(
            f"--kafka={EXTERNAL} needs {EXTERNAL}:HOST:PORT or ${SERVERS_VARIABLE}"
        )
    from ottla.config.addresses import parse_addresses

    try:
        parse_addresses(servers)
    except ValueError as error:
        raise pytest.UsageError(f"{name}: {error}") from error
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
    with started(pytestconfig, kafka_config) as broker:
        pytestconfig.stash[_BROKER] = broker
        yield broker
        del pytestconfig.stash[_BROKER]


@contextmanager
def started(
    pytestconfig: pytest.Config, settings: Mapping[str, Any], **options: Any
) -> Iterator[RunningBroker]:
    """A broker, closed afterwards. One that does not start fails the test without a traceback."""
    from ottla.testing.broker import BrokerFailed, RunningBroker

    level = pytestconfig.getoption("--kafka-log-level")
    problem = ""
    try:
        broker = RunningBroker(config=settings, log_level=level, **options)
    except (TypeError, ValueError) as error:
        problem = f"the fixture kafka_config: {error}"
    if problem:
        pytest.fail(problem, pytrace=False)
    try:
        try:
            broker.start()
        except BrokerFailed as error:
            problem = f"the Kafka broker did not start: {error}"
        if problem:  # not while the error is handled: the report would repeat it
            pytest.fail(problem, pytrace=False)
        yield broker
    finally:
        broker.close()


@pytest.fixture(scope="session")
def kafka_cluster(
    pytestconfig: pytest.Config, kafka_config: Mapping[str, str]
) -> Iterator[RunningCluster]:
    """Three brokers on ZooKeeper, for the whole test run. It needs Java.

    A test may stop, kill and pause brokers: they run again when the next test begins.
    """
    if external_servers(pytestconfig.getoption("--kafka"), os.environ) is not None:
        pytest.skip(f"{CLUSTER}: needs a cluster of our own, not --kafka=external")
    from ottla.testing.broker import BrokerFailed
    from ottla.testing.cluster import RunningCluster

    cluster = RunningCluster(
        config=kafka_config, log_level=pytestconfig.getoption("--kafka-log-level")
    )
    problem = ""
    try:
        try:
            cluster.start_all()
        except BrokerFailed as error:
            problem = f"the Kafka cluster did not start: {error}"
        if problem:  # not while the error is handled: the report would repeat it
            pytest.fail(problem, pytrace=False)
        pytestconfig.stash[_CLUSTER] = cluster
        yield cluster
        del pytestconfig.stash[_CLUSTER]
    finally:
        cluster.close()


@pytest.fixture
def fresh_kafka_config(kafka_config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings of `fresh_kafka_broker`; a test module may define its own. Those of the run."""
    return kafka_config


@pytest.fixture
def fresh_kafka_broker(request: pytest.FixtureRequest) -> Iterator[RunningBroker]:
    """A broker for one test, which may kill it. The fixture `kafka` is then on this one."""
    config = request.config
    if external_servers(config.getoption("--kafka"), os.environ) is not None:
        names = [name for name in OF_FRESH if name in request.fixturenames] or [FRESH]
        what = " and ".join(names)
        pytest.skip(f"{what}: needs a broker of our own, not --kafka=external")
    with started(config, request.getfixturevalue("fresh_kafka_config"), controls=True) as broker:
        yield broker


@pytest.fixture
def kafka_clock(fresh_kafka_broker: RunningBroker) -> BrokerClock:
    """The clock of `fresh_kafka_broker`, to be moved ahead: `kafka_clock.advance(days=8)`."""
    return fresh_kafka_broker.clock


@pytest.fixture
def kafka_faults(fresh_kafka_broker: RunningBroker) -> BrokerFaults:
    """Faults of `fresh_kafka_broker`: error codes, late and lost answers, a full disk."""
    return fresh_kafka_broker.faults


@pytest.fixture(scope="session")
def _kafka_clients(kafka_broker: RunningBroker | ExternalCluster) -> Clients:
    from ottla.testing.clients import Clients

    return Clients(kafka_broker.bootstrap_servers)


@pytest.fixture
def kafka(request: pytest.FixtureRequest) -> Iterator[Kafka]:
    """Kafka for one test: names of its own; topics and groups that are deleted afterwards."""
    from ottla.testing.kafka import Kafka

    if FRESH in request.fixturenames:
        broker = request.getfixturevalue(FRESH)
        yield Kafka(broker.bootstrap_servers, broker=broker)  # all of it goes with the broker
        return
    if CLUSTER in request.fixturenames:
        helper = Kafka(request.getfixturevalue(CLUSTER).bootstrap_servers)
        yield helper
        helper.close()
        return
    clients = request.getfixturevalue("_kafka_clients")
    shared = request.config.stash.get(_BROKER, None)
    helper = Kafka(clients, broker=shared, is_alone=shared is not None)
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


# Around each test


def pytest_runtest_setup(item: pytest.Item) -> None:
    if (why := item.config.stash.get(_LOST, None)) is not None and uses_shared(item):
        pytest.fail(why, pytrace=False)
    broker = item.config.stash.get(_BROKER, None)
    if broker is not None and uses_shared(item) and not broker.is_running:
        # It has ended since the test before, which may have sent it a signal.
        before = item.config.stash.get(_LAST_TEST, "something")
        if (warning := revived(item, broker, before)) is not None:
            item.warn(pytest.PytestWarning(warning))
    brokers = running_brokers(item.config)
    if brokers:
        from ottla.testing.reports import log_size

        item.stash[_LOG_POSITIONS] = {each.log_path: log_size(each) for each in brokers}


def running_brokers(config: pytest.Config) -> list[RunningBroker]:
    """The brokers that tests share."""
    shared = config.stash.get(_BROKER, None)
    cluster = config.stash.get(_CLUSTER, None)
    return [
        *([] if shared is None else [shared]),
        *([] if cluster is None else cluster.brokers.values()),
    ]


def uses_shared(item: pytest.Item) -> bool:
    names = getattr(item, "fixturenames", ())
    is_elsewhere = FRESH in names or CLUSTER in names
    return "kafka_broker" in names or ("kafka" in names and not is_elsewhere)


def uses_cluster(item: pytest.Item) -> bool:
    return CLUSTER in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Before the fixtures end: they delete topics, which takes a broker that answers."""
    warning = None
    broker = item.config.stash.get(_BROKER, None)
    if broker is not None and _LOST not in item.config.stash:
        if "kafka_broker" in getattr(item, "fixturenames", ()):
            from ottla.testing.reports import settle

            settle(broker)
        warning = revived(item, broker, item.nodeid)
        if uses_shared(item):
            item.config.stash[_LAST_TEST] = item.nodeid
    cluster = item.config.stash.get(_CLUSTER, None)
    if cluster is not None and uses_cluster(item):
        cluster.restore()
    yield
    if warning is not None:
        item.warn(pytest.PytestWarning(warning))


def revived(item: pytest.Item, broker: RunningBroker, test: str) -> str | None:
    from ottla.testing.broker import BrokerFailed
    from ottla.testing.reports import revive

    try:
        return revive(broker, test)
    except BrokerFailed as error:
        why = f"the Kafka broker is gone since {test} and cannot be started: {error}"
        item.config.stash[_LOST] = why
        return why


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    is_with_fresh = FRESH in getattr(item, "fixturenames", ())
    if report.failed and (uses_shared(item) or uses_cluster(item) or is_with_fresh):
        report.sections += sections_of(item, is_call=report.when == "call")
    return report


def sections_of(item: pytest.Item, *, is_call: bool) -> list[tuple[str, str]]:
    """The end of what the brokers wrote during the test, and what its topics hold."""
    from ottla.testing.reports import end_faults, log_since, topics_of

    sections = []
    positions = item.stash.get(_LOG_POSITIONS, {})
    fixtures = getattr(item, "funcargs", {})
    if (shared := item.config.stash.get(_BROKER, None)) is not None and uses_shared(item):
        sections.append(("Kafka broker log", log_since(shared, positions.get(shared.log_path, 0))))
    if (cluster := item.config.stash.get(_CLUSTER, None)) is not None and uses_cluster(item):
        for broker_id, broker in cluster.brokers.items():
            log = log_since(broker, positions.get(broker.log_path, 0))
            sections.append((f"Kafka broker log ({broker_id} of the cluster)", log))
    if (fresh := fixtures.get(FRESH)) is not None:
        sections.append(("Kafka broker log (fresh)", log_since(fresh, 0)))
    if (kafka := fixtures.get("kafka")) is not None and is_call:
        end_faults(fresh)
        sections.append(("Kafka topics of this test", topics_of(kafka)))
    return [(title, content) for title, content in sections if content]
