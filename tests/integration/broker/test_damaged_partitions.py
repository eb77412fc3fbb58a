"""A partition whose files are damaged fails alone: the broker starts, and the others are served."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from ottla.testing.broker import RunningBroker

TOPICS = ("damaged", "healthy")


@pytest.fixture
def broker() -> Iterator[RunningBroker]:
    with RunningBroker() as running:
        for topic in TOPICS:
            assert produce(running, topic)
        yield running


def produce(broker: RunningBroker, topic: str) -> bool:
    """Whether a record was acknowledged."""
    errors: list[object] = []
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "message.timeout.ms": 3000,
            "log_level": 0,
        }
    )
    producer.produce(topic, b"value", on_delivery=lambda error, _message: errors.append(error))
    producer.flush(5)
    producer.purge()
    producer.flush(5)
    return len(errors) == 1 and errors[0] is None


def count_records(broker: RunningBroker, topic: str) -> int:
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "test", "log_level": 0}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = consumer.consume(10, timeout=3.0)
    consumer.close()
    return len([message for message in found if message.error() is None])


def test_a_broker_starts_without_a_partition_whose_metadata_is_garbage(
    broker: RunningBroker,
) -> None:
    broker.stop()
    (broker.data / "damaged-0" / "partition.metadata").write_bytes(b"\xff\xfe garbage")
    broker.start()
    assert produce(broker, "healthy")
    assert count_records(broker, "healthy") == 2
    assert not produce(broker, "damaged")
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
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "test", "log_level": 0}
    )
    consumer.assign([TopicPartition(topic, 0, 0) for topic in TOPICS])
    found = []
    for _ in range(20):
        found += [each for each in consumer.consume(10, timeout=0.5) if each.error() is None]
        if found:
            break
    consumer.close()
    assert {message.topic() for message in found} == {"healthy"}


def test_a_topic_whose_directory_is_in_the_way_leaves_the_controller_working(
    broker: RunningBroker,
) -> None:
    (broker.data / "clash-0").mkdir()
    assert not produce(broker, "clash")
    assert produce(broker, "after")


def test_a_topic_whose_files_vanished_can_still_be_deleted(broker: RunningBroker) -> None:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    for path in (broker.data / "damaged-0").iterdir():
        path.unlink()
    try:
        admin.delete_topics(["damaged"])["damaged"].result(10)
    except KafkaException as error:
        pytest.fail(str(error))
    assert produce(broker, "healthy")
