"""How large records are, as far as brokers report it."""

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import Unreachable
from ottla.protocol.messages.describe_log_dirs_response import (
    DescribeLogDirsPartition,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)
from ottla.spark.options.consumer_options import parse_kafka_options
from ottla.spark.source.record_sizes import GUESS_BYTES, RecordSizes, average_sizes, log_sizes

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
SETTINGS = parse_kafka_options({"kafka.bootstrap.servers": "localhost:1"}).settings


def test_sizes_are_averages_of_a_topic() -> None:
    found = average_sizes({A0: 900, A1: 100, B0: 7}, {A0: 5, A1: 0, B0: 3}, {A0: 10, A1: 5, B0: 3})
    assert found == {"a": 100}, "an empty topic has no average"


def test_copies_that_are_on_the_move_do_not_count() -> None:
    parts = [DescribeLogDirsPartition(0, 50, 0, False), DescribeLogDirsPartition(0, 20, 0, True)]
    answer = DescribeLogDirsResponse(
        results=[DescribeLogDirsResult(0, "/data", [DescribeLogDirsTopic("a", parts)])]
    )
    assert dict(log_sizes(answer)) == {A0: 50}


class Silent(Cluster):
    asked = 0

    def describe_topics(self, *_: object, **__: object) -> dict[str, object]:  # type: ignore[override]
        self.asked += 1
        raise Unreachable({"localhost:1": "connection refused"})


def test_unknown_sizes_have_a_default_and_are_not_requested_again() -> None:
    cluster, sizes = Silent(SETTINGS), RecordSizes()
    assert sizes.of(cluster, [A0, A1]) == {"a": GUESS_BYTES}
    assert sizes.of(cluster, [A1]) == {"a": GUESS_BYTES}
    assert cluster.asked == 1
