"""`spark.readStream.format("ottla")` in a real session: checkpoints, restarts, failing batches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.spark.queries import insist
from tests.integration.spark.source.dataframes import (
    Batches,
    add_partitions,
    committed,
    expected_rows,
    groups_like,
    produce_again,
    read_stream,
    recreate,
    run_to_end,
)

from ottla.testing import Kafka
from ottla.testing.records import Record

pytestmark = pytest.mark.xdist_group("spark")

EARLIEST = {"startingOffsets": "earliest"}


class FailsAt(Batches):
    """A sink that fails in one batch, after it was planned and before it is done."""

    def __init__(self, batch_id: int) -> None:
        super().__init__()
        self.batch_id = batch_id

    def collect(self, frame: Any, batch_id: int) -> None:
        if batch_id == self.batch_id:
            raise RuntimeError("the sink failed")
        super().collect(frame, batch_id)


def test_limited_batches_restarts_and_new_partitions_read_everything_once(
    spark: Any, each_kafka: Kafka, tmp_path: Path
) -> None:
    topic = each_kafka.topic("t", partitions=2)
    each_kafka.produce(topic, [Record(b"%d" % n, partition=n % 2) for n in range(25)])
    frame = read_stream(spark, each_kafka, topic, maxOffsetsPerTrigger=10, **EARLIEST)
    batches = run_to_end(frame, tmp_path)
    assert batches.sizes == [10, 10, 5]
    assert batches.all_rows == expected_rows(each_kafka, topic)
    (group,) = groups_like(each_kafka, f"spark-ottla-{topic}-")
    assert committed(each_kafka, group, topic, 2) == [13, 12]

    add_partitions(each_kafka, topic, 3)
    produce_again(each_kafka, topic, [Record(b"new", partition=p) for p in range(3)])
    run_to_end(frame, tmp_path, batches)
    assert batches.all_rows == expected_rows(each_kafka, topic)
    assert committed(each_kafka, group, topic, 3) == [14, 13, 1]


def test_a_run_to_the_end_does_not_wait_for_more(spark: Any, kafka: Kafka, tmp_path: Path) -> None:
    topic = kafka.topic("t")
    kafka.produce(topic, ["a"])
    frame = read_stream(spark, kafka, topic, minOffsetsPerTrigger=100, **EARLIEST)
    batches = run_to_end(frame, tmp_path)
    kafka.produce(topic, ["b"])
    assert run_to_end(frame, tmp_path, batches).sizes == [1, 1]


def test_latest_stays_what_it_was_when_batch_0_is_run_again(
    spark: Any, each_kafka: Kafka, tmp_path: Path
) -> None:
    topic = each_kafka.topic("t")
    each_kafka.produce(topic, ["before"])
    frame = read_stream(spark, each_kafka, topic)
    with pytest.raises(Exception, match="the sink failed"):
        run_to_end(frame, tmp_path, FailsAt(0))
    each_kafka.produce(topic, ["after 1", "after 2"])
    batches = run_to_end(frame, tmp_path)
    assert [row[1] for row in batches.all_rows] == [b"after 1", b"after 2"]


def test_batch_0_is_run_again_although_partitions_came_that_no_option_names(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.topic("t")
    kafka.produce(topic, ["skipped", "a"])
    frame = read_stream(spark, kafka, topic, startingOffsets=json.dumps({topic: {"0": 1}}))
    with pytest.raises(Exception, match="the sink failed"):
        run_to_end(frame, tmp_path, FailsAt(0))
    add_partitions(kafka, topic, 2)
    produce_again(kafka, topic, [Record(b"new", partition=1)])
    batches = run_to_end(frame, tmp_path)
    assert [row[1] for row in batches.all_rows] == [b"a", b"new"]


def test_a_batch_that_failed_is_run_again_with_the_same_rows(
    spark: Any, each_kafka: Kafka, tmp_path: Path
) -> None:
    topic = each_kafka.topic("t")
    each_kafka.produce(topic, [b"%d" % n for n in range(10)])
    frame = read_stream(spark, each_kafka, topic, maxOffsetsPerTrigger=4, **EARLIEST)
    failing = FailsAt(1)
    with pytest.raises(Exception, match="the sink failed"):
        run_to_end(frame, tmp_path, failing)
    each_kafka.produce(topic, ["more"])
    batches = run_to_end(frame, tmp_path, Batches(failing.rows))
    assert batches.sizes == [4, 4, 3]
    assert batches.all_rows == expected_rows(each_kafka, topic)


def test_a_topic_made_again_stops_the_query_with_its_name(
    spark: Any, each_kafka: Kafka, tmp_path: Path
) -> None:
    topic = each_kafka.topic("t")
    each_kafka.produce(topic, ["old"])
    run_to_end(read_stream(spark, each_kafka, topic, **EARLIEST), tmp_path)
    recreate(each_kafka, topic)
    produce_again(each_kafka, topic, ["new 1", "new 2"])
    with pytest.raises(Exception, match=f"{topic}-0: the topic was deleted and created again"):
        run_to_end(read_stream(spark, each_kafka, topic, **EARLIEST), tmp_path)
    lenient = read_stream(spark, each_kafka, topic, failOnDataLoss=False, **EARLIEST)
    assert run_to_end(lenient, tmp_path).all_rows == expected_rows(each_kafka, topic)


def test_a_running_query_reports_its_lag_and_moves_on(
    spark: Any, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.topic("t")
    kafka.produce(topic, ["a"])
    batches = Batches()
    stream = (
        read_stream(spark, kafka, topic, maxOffsetsPerTrigger=1, **EARLIEST)
        .writeStream.foreachBatch(batches.collect)
        .option("checkpointLocation", str(tmp_path))
    )

    def begun() -> Any:
        query = stream.start()
        query.processAllAvailable()
        return query

    query = insist(begun)
    try:
        kafka.produce(topic, ["b", "c"])
        query.processAllAvailable()
        source = json.loads(query.lastProgress.json)["sources"][0]
    finally:
        query.stop()
    assert [row[1] for row in batches.all_rows] == [b"a", b"b", b"c"]
    assert source["latestOffset"] == {topic: {"0": 3}}


@pytest.mark.parametrize(
    ("options", "reported"),
    [
        ({"endingOffsets": "latest"}, "endingOffsets: a stream has no end"),
        ({"minOffsetsPerTrigger": 5, "maxOffsetsPerTrigger": 2}, "minOffsetsPerTrigger=5"),
        ({"startingOffsets": '{"x":{"0":1}}'}, "startingOffsets must name exactly"),
        ({"maxTriggerDelay": "soon"}, "maxTriggerDelay"),
        ({"subscribe": "no-such-topic"}, "do not exist: no-such-topic"),
    ],
)
def test_bad_options_are_reported_by_name(
    spark: Any, kafka: Kafka, tmp_path: Path, options: dict[str, Any], reported: str
) -> None:
    topic = kafka.topic("t")
    with pytest.raises(Exception, match=reported) as caught:
        run_to_end(read_stream(spark, kafka, topic, **options), tmp_path)
    assert "UnboundLocalError" not in str(caught.value), "what Spark makes of an error too early"
