"""Records, offsets, producers."""

from __future__ import annotations

from tests.compatibility.clients.clients import AIOKAFKA, JAVA, KAFKA_PYTHON, LIBRDKAFKA
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.foreign.client import Record
from tests.compatibility.clients.foreign.kafka_python import TopicPartition
from tests.compatibility.clients.stories.telling import Sight, shows

from ottla.protocol.api_keys import ApiKey

SENT = [Record(b"%d" % each, b"k", (("h", b"v"),), 1_700_000_000_000 + each) for each in range(20)]


@shows(
    by=AIOKAFKA,
    does=[ApiKey.PRODUCE, ApiKey.API_VERSIONS],
    seen_by=JAVA,
    sees=[ApiKey.FETCH, ApiKey.API_VERSIONS],
)
def records_of_aiokafka_reach_java(on: Cluster) -> Sight:
    on.aiokafka.produce("from-aiokafka", SENT)
    return lambda: [each.record for each in on.java.consume("from-aiokafka", 20)] == SENT


@shows(by=JAVA, does=[ApiKey.PRODUCE], seen_by=LIBRDKAFKA, sees=[ApiKey.FETCH])
def records_of_java_reach_librdkafka(on: Cluster) -> Sight:
    on.java.produce("from-java", SENT)
    return lambda: [each.record for each in on.librdkafka.consume("from-java", 20)] == SENT


@shows(by=KAFKA_PYTHON, does=[ApiKey.PRODUCE], seen_by=AIOKAFKA, sees=[ApiKey.LIST_OFFSETS])
def times_of_kafka_python_are_found_by_aiokafka(on: Cluster) -> Sight:
    on.kafka_python.produce("from-kafka-python", SENT)
    return lambda: on.aiokafka.offset_for_time("from-kafka-python", 1_700_000_000_007) == 7


@shows(
    by=JAVA,
    does=[ApiKey.INIT_PRODUCER_ID],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.DESCRIBE_PRODUCERS],
)
def an_idempotent_producer_is_described(on: Cluster) -> Sight:
    on.java.produce("idempotent", SENT)

    def is_described() -> bool:
        where = TopicPartition("idempotent", 0)
        with on.kafka_python_admin() as admin:
            (found,) = admin.describe_producers([where])[where].active_producers
        return bool(found.producer_id >= 0 and found.last_sequence == 19)

    return is_described


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.PRODUCE],
    seen_by=JAVA,
    sees=[ApiKey.OFFSET_FOR_LEADER_EPOCH],
)
def a_position_with_an_old_leader_epoch_is_checked(on: Cluster) -> Sight:
    """After the kill the leader has a new epoch; the one of the position is still known."""
    on.librdkafka.produce("checked", SENT)

    def is_checked() -> bool:
        found = on.java_clients.consume("checked", start=7, leader_epoch=0)
        return [each.value for each in found] == [each.value for each in SENT[7:]]

    return is_checked
