"""A partition whose files are damaged fails alone: the broker starts, and the others are served."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from ottla.testing.broker import RunningBroker

TOPICS = ("damaged", "healthy")
PATIENCE_MS = 120_000


@pytest.fixture
def broker() -> Iterator[RunningBroker]:
    with RunningBroker() as running:
        for topic in TOPICS:
            assert produce(running, topic)
        yield running


def produce(broker: RunningBroker, topic: str, timeout_ms: int = PATIENCE_MS) -> bool:
    """Whether a record was acknowledged."""
    errors: list[object] = []
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "message.timeout.ms": timeout_ms,
            "log_level": 0,
        }
    )
    producer.produce(topic, b"value", on_delivery=lambda error, _message: errors.append(error))
    producer.flush()  # the callback is called in any case, if only with a timeout
    (error,) = errors
    return error is None


def is_refused(broker: RunningBroker, topic: str) -> bool:
    return not produce(broker, topic, timeout_ms=3000)


def consumer_of(broker: RunningBroker, *topics: str) -> Consumer:
    """Of their first partitions, from the beginning; it returns their ends."""
    settings = {"group.id": "test", "enable.partition.eof": True, "log_level": 0}
    consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, **settings})
    consumer.assign([TopicPartition(topic, 0, 0) for topic in topics])
    return consumer


def read_to_the_end(consumer: Consumer, topic: str) -> list[str]:
    """The topics of all records that came until this one ended."""
    found: list[str] = []
    while True:
        message = consumer.poll(PATIENCE_MS / 1000)
        assert message is not None, f"{topic} does not end"
        if message.error() is None:
            found.append(message.topic())
        elif message.error().code() == KafkaError._PARTITION_EOF and message.topic() == topic:
            return found


def test_a_broker_starts_without_a_partition_whose_metadata_is_garbage(
    broker: RunningBroker,
) -> None:
    broker.stop()
    (broker.data / "damaged-0" / "partition.metadata").write_bytes(b"\xff\xfe garbage")
    broker.start()
    assert produce(broker, "healthy")
    with closing(consumer_of(broker, "healthy")) as consumer:
        assert read_to_the_end(consumer, "healthy") == ["healthy"] * 2
    assert is_refused(broker, "damaged")
    assert "damaged-0" in broker.log


def test_a_reader_of_damaged_and_healthy_partitions_gets_the_healthy_ones(
    broker: RunningBroker,
) -> None:
    segment = broker.data / "damaged-0" / "00000000000000000000.log"
    with segment.open("r+b") as file:
        file.seek(8)
        file.write((2**31 - 1).to_bytes(4, "big"))  # the length of the first batch
    broker.kill()
    broker.start()
    with closing(consumer_of(broker, *TOPICS)) as consumer:
        assert read_to_the_end(consumer, "healthy") == ["healthy"]


def test_a_topic_whose_directory_is_in_the_way_leaves_the_controller_working(
    broker: RunningBroker,
) -> None:
    (broker.data / "clash-0").mkdir()
    assert is_refused(broker, "clash")
    assert produce(broker, "after")


def test_a_topic_whose_files_vanished_can_still_be_deleted(broker: RunningBroker) -> None:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for path in (broker.data / "damaged-0").iterdir():
        path.unlink()
    try:
        admin.delete_topics(["damaged"])["damaged"].result(120)
    except KafkaException as error:
        pytest.fail(str(error))
    assert produce(broker, "healthy")
