"""The clock and the faults of a broker that only one test uses."""

from __future__ import annotations

import asyncio
import errno
import time
from pathlib import Path

import pytest

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.headers import decode_request_header, encode_request
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.testing import Broker, BrokerFailed, Kafka
from ottla.testing.controls import named
from ottla.testing.full_disk import FillableDisk
from ottla.testing.moved_time import MovedClock, MovedLoop
from ottla.testing.request_faults import without_creation

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.xdist_group("pytest-plugin")

CONTROLLED = """
    import time

    import pytest
    from confluent_kafka import Consumer, KafkaException, Producer

    @pytest.fixture(scope="module", autouse=True)
    def one_broker_for_all(request):
        from ottla.testing.broker import RunningBroker
        with RunningBroker(controls=True) as broker:
            request.module.BROKER = broker
            yield

    @pytest.fixture
    def fresh_kafka_broker():
        yield BROKER
        BROKER.faults.clear()

    def texts(kafka, topic="t"):
        return [record.text for record in kafka.consume(topic)]

    def producer(kafka, **settings):
        return Producer({"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0, **settings})

    def send(sender, topic):
        errors = []
        sender.produce(topic, b"x", on_delivery=lambda error, _: errors.append(error))
        sender.flush(60)
        return [error and error.name() for error in errors]

    def test_retention(kafka, kafka_clock):
        kafka.topic("t", config={"retention.ms": 3_600_000})
        kafka.produce("t", ["old", "older"])
        kafka_clock.advance(minutes=50)
        assert texts(kafka) == ["old", "older"]
        kafka.produce("t", "new")
        kafka_clock.advance(minutes=50)
        assert texts(kafka) == ["old", "older", "new"]  # one segment, and its last record is young
        kafka_clock.advance(hours=2)
        assert texts(kafka) == []
        assert kafka_clock.now_ms() / 1000 - time.time() > 3 * 3600

    def test_session_timeout(kafka, kafka_clock):
        topic = kafka.topic("t")
        kafka.produce("t", "x")
        consumer = Consumer({
            "bootstrap.servers": kafka.bootstrap_servers, "group.id": kafka.name("g"),
            "auto.offset.reset": "earliest", "session.timeout.ms": 45000,
        })
        consumer.subscribe([topic])
        assert consumer.poll(120).value() == b"x"
        kafka_clock.advance(44)
        def members():
            found = kafka.admin.describe_consumer_groups([kafka.name("g")])
            return len(found[kafka.name("g")].result(60).members)
        assert members() == 1
        kafka_clock.advance(50)
        assert members() == 0
        consumer.close()

    def test_transaction_timeout(kafka, kafka_clock):
        topic = kafka.topic("t")
        sender = producer(
            kafka, **{"transactional.id": kafka.name("id"), "transaction.timeout.ms": 60000}
        )
        sender.init_transactions()
        sender.begin_transaction()
        assert send(sender, topic) == [None]
        kafka.produce("t", "behind")
        assert texts(kafka) == []  # the transaction is open
        kafka_clock.advance(90)
        assert texts(kafka) == ["behind"]
        with pytest.raises(KafkaException):
            sender.commit_transaction()

    def test_the_clock_goes_ahead_only(kafka_clock):
        with pytest.raises(ValueError, match="does not go back"):
            kafka_clock.advance(-1)

    def test_a_failed_metadata_names_the_brokers(kafka, kafka_faults):
        topic, missing = kafka.topic("t"), kafka.name("missing")
        kafka_faults.fail("Metadata", "TOPIC_AUTHORIZATION_FAILED", times=None)
        for name in (topic, missing):
            found = kafka.admin.list_topics(name, timeout=60)
            assert len(found.brokers) == 1
            assert found.topics[name].error.name() == "TOPIC_AUTHORIZATION_FAILED"

    def test_error_of_the_second_produce(kafka, kafka_faults):
        topic = kafka.topic("t")
        sender = producer(kafka, retries=0)
        before = kafka_faults.requests("Produce")
        kafka_faults.fail("Produce", "INVALID_RECORD", nth=2)
        codes = [send(sender, topic)[0] for _ in range(3)]
        assert codes == [None, "INVALID_RECORD", None]
        assert texts(kafka) == ["x", "x"]
        assert kafka_faults.requests("Produce") == before + 3

    def test_any_api_fails_until_it_is_cleared(kafka, kafka_faults):
        kafka_faults.fail("create_topics", "POLICY_VIOLATION", times=None)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="topic t cannot be created: .* asked for"):
                kafka.topic("t")
        kafka_faults.clear()
        kafka.topic("t")

    @pytest.mark.parametrize("is_carried_out", [True, False])
    def test_lost_answer(kafka, kafka_faults, is_carried_out):
        topic = kafka.topic("t")
        kafka_faults.drop("Produce", is_carried_out=is_carried_out)
        assert send(producer(kafka), topic) == [None]  # it tries again
        assert texts(kafka) == ["x", "x"] if is_carried_out else ["x"]

    def test_late_answer(kafka, kafka_faults, kafka_clock):
        topic = kafka.topic("t")
        kafka_faults.delay("Produce", 3600)
        sender = producer(kafka)
        sender.produce(topic, b"x")
        assert sender.flush(0.5) == 1
        assert texts(kafka) == ["x"]  # it was carried out
        kafka_clock.advance(hours=1)
        assert sender.flush(60) == 0
        assert texts(kafka) == ["x"]

    def test_full_disk(kafka, kafka_faults):
        topic = kafka.topic("t")
        kafka_faults.fill_disk()
        sender = producer(kafka, **{"delivery.timeout.ms": 300, "retries": 0})
        assert send(sender, topic) != [None]
        kafka_faults.clear()
        assert send(producer(kafka), topic) == [None]
        assert texts(kafka) == ["x"]

    def test_the_clock_is_kept_over_a_restart(kafka, kafka_clock, fresh_kafka_broker):
        kafka.topic("t")
        ahead_s = kafka_clock.ahead_s
        assert ahead_s > 3600
        fresh_kafka_broker.kill()
        with pytest.raises(RuntimeError, match="the broker is not running"):
            kafka_clock.advance(1)
        fresh_kafka_broker.start()
        kafka.produce("t", "x")
        record = kafka.consume("t", 1)[0]
        assert abs(record.timestamp_ms - kafka_clock.now_ms()) < 600_000
        assert kafka_clock.ahead_s == ahead_s
"""


def test_time_and_faults_are_what_the_test_says(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(CONTROLLED)
    pytester.runpytest_subprocess().assert_outcomes(passed=12)


def test_fixtures_bring_a_broker_to_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_moves(kafka, kafka_clock, kafka_faults, fresh_kafka_broker):
            assert kafka.bootstrap_servers == fresh_kafka_broker.bootstrap_servers
            assert kafka_clock is fresh_kafka_broker.clock
            assert kafka_faults is fresh_kafka_broker.faults
            kafka_clock.advance(days=1)
            assert kafka_faults.requests("Fetch") == 0
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    result = pytester.runpytest_inprocess("--kafka=external:127.0.0.1:1", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*kafka_clock and kafka_faults: needs a broker of our own*"])


def test_a_report_is_not_hit_by_the_faults_of_its_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_fails(kafka, kafka_faults):
            kafka.topic("t")
            kafka.produce("t", "x")
            kafka_faults.fail("Fetch", "UNKNOWN_SERVER_ERROR", times=None)
            kafka_faults.fail("Metadata", "UNKNOWN_TOPIC_OR_PARTITION", times=None)
            assert 1 == 2
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Kafka topics of this test*", "t (test-*-t): 1 record", "*'x'"])


def test_a_topic_that_cannot_be_read_is_not_said_to_be_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ottla.testing.kafka.REPORT_S", 1.0)
    with Broker(controls=True) as broker:
        kafka = Kafka(broker)
        kafka.topic("t")
        kafka.produce("t", "x")
        broker.faults.fail("Fetch", "UNKNOWN_SERVER_ERROR", times=None)
        with pytest.raises(RuntimeError, match="partition 0 cannot be read to the end within 1 s"):
            kafka.dump()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Produce", "PRODUCE"),
        ("ListOffsets", "LIST_OFFSETS"),
        ("list_offsets", "LIST_OFFSETS"),
        (1, "FETCH"),
        (ApiKey.FETCH, "FETCH"),
    ],
)
def test_apis_are_known_by_any_spelling(given: str | int, name: str) -> None:
    assert named(ApiKey, given) == name


def test_a_name_that_kafka_does_not_have_is_refused_with_those_that_are_close() -> None:
    with pytest.raises(ValueError, match=r"no API 'Prodce'; do you mean PRODUCE or "):
        named(ApiKey, "Prodce")
    with pytest.raises(ValueError, match=r"no error code 'NOT_LEADER'; do you mean NOT_LEADER_OR"):
        named(ErrorCode, "NOT_LEADER")


def test_a_broker_without_controls_says_how_to_get_them() -> None:
    broker = Broker()
    for name in ("clock", "faults"):
        with pytest.raises(BrokerFailed, match=rf"{name}: only with Broker\(controls=True\)"):
            getattr(broker, name)


def test_a_full_disk_lets_nothing_grow(tmp_path: Path) -> None:
    disk = FillableDisk()
    file = disk.open(f"{tmp_path}/a", create=True)
    file.write_at(0, b"abc")
    disk.is_full = True
    file.write_at(0, b"xyz")  # takes no room
    assert disk.space(str(tmp_path)).free_bytes == 0
    for change in (
        lambda: file.write_at(2, b"12"),
        lambda: disk.open(f"{tmp_path}/b", create=True),
        lambda: disk.make_directory(f"{tmp_path}/c"),
    ):
        with pytest.raises(OSError, match="No space") as caught:
            change()
        assert caught.value.errno == errno.ENOSPC
    disk.is_full = False
    file.write_at(2, b"12")
    assert file.read_at(0, 9) == b"xy12"
    file.close()


def test_advancing_ends_when_timers_and_threads_that_were_due_are_done() -> None:
    happened = []
    clock = MovedClock()

    async def wait_and_work() -> None:
        await asyncio.sleep(3600)
        await asyncio.to_thread(time.sleep, 0.1)
        happened.append(loop.time())

    async def story() -> None:
        waiting = asyncio.create_task(wait_and_work())
        await asyncio.sleep(0)
        await loop.advance(3599)
        assert not happened
        await loop.advance(1)
        assert len(happened) == 1
        await waiting

    began_s = time.monotonic()
    loop = MovedLoop(clock)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(story())
    assert happened[0] - began_s >= 3600


@pytest.mark.parametrize(("version", "may_create"), [(3, True), (4, False), (13, False)])
def test_a_metadata_request_that_fails_creates_no_topic(version: int, may_create: bool) -> None:
    request = MetadataRequest([MetadataRequestTopic(name="t")], allow_auto_topic_creation=True)
    segments = encode_request(ApiKey.METADATA, version, 7, "client", request)
    changed = without_creation(memoryview(b"".join(segments))[4:])
    key, found_version, correlation_id, client_id, at = decode_request_header(changed)
    assert (key, found_version, correlation_id, client_id) == (3, version, 7, "client")
    found = MetadataRequest.decode_prefix(changed, version, at)[0]
    assert found.topics == request.topics
    assert found.allow_auto_topic_creation is may_create
