"""Reading with the source under test, and with another client to compare with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer
from confluent_kafka import TopicPartition as Place
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from tests.integration.spark.queries import run_query
from tests.support.transactions import wait_until_stable
from tests.support.waiting import wait_until

from ottla.testing import Kafka

PATIENCE_S = 120.0

# key, value, topic, partition, offset, timestamp in ms, timestamp type
Row = tuple[bytes | None, bytes | None, str, int, int, int, int]


def options_of(kafka: Kafka, topic: str | None, options: Mapping[str, Any]) -> dict[str, str]:
    chosen = {"kafka.bootstrap.servers": kafka.bootstrap_servers}
    if topic is not None:
        chosen["subscribe"] = topic
    return chosen | {name.replace("__", "."): str(value) for name, value in options.items()}


def read(
    spark: Any, kafka: Kafka, topic: str | None, schema: str | None = None, **options: Any
) -> Any:
    reader = spark.read.format("ottla").options(**options_of(kafka, topic, options))
    return (reader if schema is None else reader.schema(schema)).load()


def read_stream(spark: Any, kafka: Kafka, topic: str | None, **options: Any) -> Any:
    return spark.readStream.format("ottla").options(**options_of(kafka, topic, options)).load()


def rows_of(frame: Any) -> list[Row]:
    """The rows of a DataFrame with Spark's columns, in the order of the log."""
    return sorted((as_row(row) for row in frame.collect()), key=lambda row: row[2:5])


def as_row(row: Any) -> Row:
    time_ms = round(row.timestamp.timestamp() * 1000)
    key = None if row.key is None else bytes(row.key)
    value = None if row.value is None else bytes(row.value)
    return key, value, row.topic, row.partition, row.offset, time_ms, row.timestampType


def expected_rows(kafka: Kafka, *topics: str, isolation: str = "read_uncommitted") -> list[Row]:
    """What confluent-kafka reads of these topics."""
    consumer = Consumer({
        "bootstrap.servers": kafka.bootstrap_servers,
        "group.id": kafka.name("expected"),
        "enable.partition.eof": True,
        "enable.auto.commit": False,
        "isolation.level": isolation,
    })  # fmt: skip
    try:
        places = [
            Place(topic, number, OFFSET_BEGINNING)
            for topic in topics
            for number in consumer.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
        ]
        consumer.assign(places)
        found = [expected_row(message) for message in to_the_end(consumer, len(places))]
    finally:
        consumer.close()
    return sorted(found, key=lambda row: row[2:5])


def to_the_end(consumer: Any, partitions: int) -> Iterator[Message]:
    while partitions:
        message = consumer.poll(PATIENCE_S)
        assert message is not None, "the other client read nothing either"
        if message.error() is None:
            yield message
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
            partitions -= 1


def expected_row(message: Message) -> Row:
    kind, time_ms = message.timestamp()
    # confluent-kafka counts the types from 1, Kafka from 0
    return (
        message.key(), message.value(), message.topic(), message.partition(), message.offset(),
        time_ms, kind - 1,
    )  # fmt: skip


@dataclass
class Batches:
    """What the micro-batches of a stream held."""

    rows: dict[int, list[Row]] = field(default_factory=dict)

    def collect(self, frame: Any, batch_id: int) -> None:
        self.rows[batch_id] = rows_of(frame)

    @property
    def sizes(self) -> list[int]:
        return [len(self.rows[number]) for number in sorted(self.rows)]

    @property
    def all_rows(self) -> list[Row]:
        return sorted(
            (row for rows in self.rows.values() for row in rows), key=lambda row: row[2:5]
        )


def run_to_end(frame: Any, checkpoint: Any, batches: Batches | None = None) -> Batches:
    """Everything that is there now (AvailableNow)."""
    batches = batches or Batches()
    stream = frame.writeStream.foreachBatch(batches.collect)
    stream = stream.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    run_query(stream.start)
    return batches


def committed(kafka: Kafka, group: str, topic: str, partitions: int) -> list[int]:
    """What a group has committed, as another client sees it."""
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap_servers, "group.id": group})
    try:
        places = [Place(topic, number) for number in range(partitions)]
        return [each.offset for each in consumer.committed(places, PATIENCE_S)]
    finally:
        consumer.close()


def groups_like(kafka: Kafka, prefix: str) -> list[str]:
    found = kafka.admin.list_consumer_groups().result(PATIENCE_S)
    return [each.group_id for each in found.valid if each.group_id.startswith(prefix)]


def delete_before(kafka: Kafka, topic: str, offsets: Mapping[int, int]) -> None:
    """What retention does: records before these offsets are gone."""
    places = [Place(topic, number, offset) for number, offset in offsets.items()]
    for future in kafka.admin.delete_records(places).values():
        future.result(PATIENCE_S)


def recreate(kafka: Kafka, topic: str, partitions: int = 1) -> None:
    delete(kafka, topic)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    admin.create_topics([NewTopic(topic, partitions)])[topic].result(PATIENCE_S)
    wait_for_partitions(admin, topic, partitions)


def delete(kafka: Kafka, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    admin.delete_topics([topic])[topic].result(PATIENCE_S)
    wait_for_partitions(admin, topic, 0)


def add_partitions(kafka: Kafka, topic: str, total: int) -> None:
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap_servers})
    admin.create_partitions([NewPartitions(topic, total)])[topic].result(PATIENCE_S)
    wait_for_partitions(admin, topic, total)


def wait_for_partitions(admin: AdminClient, topic: str, count: int) -> None:
    """Apache Kafka answers before its brokers have applied that topics are created or deleted."""

    def is_known() -> bool:
        found = admin.list_topics(timeout=PATIENCE_S).topics.get(topic)
        return len(found.partitions if found else ()) == count

    wait_until(is_known, f"{topic} has {count} partitions")


def produce_again(kafka: Kafka, topic: str, rows: Iterable[Any]) -> None:
    """With a new producer: one with metadata of the topic does not see new partitions at once."""
    Kafka(kafka.bootstrap_servers).produce(topic, rows)


def write_transaction(
    kafka: Kafka, topic: str, values: Iterable[bytes], *, commit: bool | None, partition: int = 0
) -> Producer:
    """A transaction, committed, aborted, or (None) left open with everything acknowledged."""
    producer = Producer({
        "bootstrap.servers": kafka.bootstrap_servers,
        "transactional.id": kafka.name(f"transaction-{commit}"),
        "log_level": 0,
    })  # fmt: skip
    producer.init_transactions(PATIENCE_S)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value, partition=partition)
    producer.flush(PATIENCE_S)
    if commit is True:
        producer.commit_transaction(PATIENCE_S)
    elif commit is False:
        producer.abort_transaction(PATIENCE_S)
    if commit is not None:
        wait_until_stable(kafka.bootstrap_servers, topic, [partition])
    return producer
