"""Backfills and replays of lakes over a real broker, without Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Producer
from tests.integration.pipelines.audit.lakes import rewrite_iceberg_file
from tests.integration.pipelines.local_batches import ingest, table_of
from tests.integration.pipelines.orders import Orders, ids, pipeline_file, produce

from ottla.base.ids import TopicPartition
from ottla.client.admin.topics import NewTopic, create_topics, delete_records, delete_topics
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import ClientSettings
from ottla.pipelines.declaration.loading import load
from ottla.pipelines.declaration.tree import Declaration
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.manifest import REPLACEMENT
from ottla.pipelines.lake.parquet_table import ParquetTable
from ottla.pipelines.lake.table import LakeTable, chain, current_files
from ottla.pipelines.running.side_records import PREFIX
from ottla.pipelines.sums.record_sums import decode_book, merge_books
from ottla.pipelines.verbs import rereading
from ottla.pipelines.verbs.backfill import Backfilled, backfill
from ottla.pipelines.verbs.local_reading import records_of
from ottla.pipelines.verbs.progress import Progress
from ottla.pipelines.verbs.replacing import Replaced, replace_hours
from ottla.pipelines.verbs.replay_bad import replay_bad
from ottla.pipelines.verbs.times import Times
from ottla.testing import Kafka

FORMATS = ["parquet", "delta", "iceberg"]
HOUR = "2026-03-01-10"
IDS = pa.array([1, 2], pa.int64())


def no_spark() -> None:
    raise AssertionError("this needs no Spark")


def repaired(declared: Declaration, *offsets: str) -> Backfilled:
    return backfill(declared, declared.pipelines["orders_lake"], offsets, no_spark)


def replaced(declared: Declaration) -> Replaced:
    return replace_hours(declared, declared.pipelines["orders_lake"], [HOUR], [], no_spark)


def booked(table: LakeTable) -> int:
    """Rows of the table by its commits."""
    return sum(file.rows for file in current_files(list(chain(table))[::-1]).values())


def filled(kafka: Kafka, tmp_path: Path, form: str) -> tuple[Declaration, Orders, str]:
    topic = kafka.topic("orders", partitions=3)
    declared = load(str(pipeline_file(tmp_path, kafka.bootstrap_servers, topic, form)))
    orders = Orders()
    produce(kafka.bootstrap_servers, topic, range(2000), orders)
    ingest(declared)
    produce(kafka.bootstrap_servers, topic, range(2000, 3000), orders, late_at=40)
    ingest(declared)
    assert ids(table_of(declared).rows()) == sorted(orders.good)
    return declared, orders, topic


@pytest.mark.parametrize("form", FORMATS)
def test_the_rows_of_a_removed_file_are_added_again_and_no_others(
    kafka: Kafka, tmp_path: Path, form: str
) -> None:
    declared, orders, _ = filled(kafka, tmp_path, form)
    table = table_of(declared)
    lost = table.files()[0]
    rows = pq.read_metadata(Path(table.directory) / lost).num_rows
    (Path(table.directory) / lost).unlink()
    done = repaired(declared)
    assert done.added == rows
    assert done.dropped_files == (lost,)
    assert ids(table.rows()) == sorted(orders.good)
    assert repaired(declared).added == 0
    assert ids(table.rows()) == sorted(orders.good)
    ingest(declared)  # the pipeline continues
    assert ids(table.rows()) == sorted(orders.good)


@pytest.mark.parametrize("form", FORMATS)
def test_a_repair_that_fails_changes_nothing_and_may_be_repeated(
    kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    declared, orders, _ = filled(kafka, tmp_path, form)
    table = table_of(declared)
    (Path(table.directory) / table.files()[0]).unlink()
    before = (table.last(), table.files(), sorted(Path(table.directory).rglob("*.parquet")))

    def fail(*_: Any) -> Iterator[Any]:
        yield from records_of(*_)
        raise OSError("the cluster is away")

    with monkeypatch.context() as patched:
        patched.setattr(rereading, "records_of", fail)
        for act in (repaired, replaced):
            with pytest.raises(OSError, match="away"):
                act(declared)
            files = sorted(Path(table.directory).rglob("*.parquet"))
            assert (table.last(), table.files(), files) == before
    assert repaired(declared).added > 0
    assert ids(table.rows()) == sorted(orders.good)
    assert booked(table) == len(orders.good)


def test_a_repair_that_is_interrupted_after_its_decision_keeps_its_rows(
    kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared, orders, _ = filled(kafka, tmp_path, "parquet")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ParquetTable, "finish", interrupted)
        patched.setattr(ParquetTable, "last", lambda table: table.read_manifest(last_name(table)))
        with pytest.raises(KeyboardInterrupt):
            replaced(declared)
    table = table_of(declared)
    last = table.last()  # what the next commit does first
    assert last is not None
    assert last.kind == REPLACEMENT
    assert ids(table.rows()) == sorted(orders.good)


def last_name(table: ParquetTable) -> str:
    return max(path.stem for path in Path(table.directory).glob("_ottla/manifests/*.json"))


@pytest.mark.parametrize("form", ["delta", "iceberg"])
def test_hours_that_another_program_has_rewritten_are_replaced_as_a_whole(
    kafka: Kafka, tmp_path: Path, form: str
) -> None:
    declared, orders, _ = filled(kafka, tmp_path, form)
    table = table_of(declared)
    delete_some(table.directory, form)
    before = ids(table.rows())
    assert len(before) == len(orders.good) - 2
    message = r"has rewritten files of the hours 2026-03-01-10\..*--replace --hours 2026-03-01-10"
    with pytest.raises(PipelineError, match=message):
        repaired(declared)
    assert ids(table.rows()) == before
    replaced(declared)
    assert ids(table.rows()) == sorted(orders.good)
    assert booked(table) == len(orders.good)
    assert repaired(declared).added == 0


def delete_some(lake: str, form: str) -> None:
    if form == "delta":
        from deltalake import DeltaTable

        DeltaTable(lake).delete("id in (1, 2)")
        return
    rewrite_iceberg_file(Path(lake), lambda rows: rows.filter(pc.invert(pc.is_in(rows["id"], IDS))))


def test_verbs_say_how_far_they_are(kafka: Kafka, tmp_path: Path) -> None:
    declared, orders, topic = filled(kafka, tmp_path, "parquet")
    pipeline = declared.pipelines["orders_lake"]
    table = table_of(declared)
    (Path(table.directory) / table.files()[0]).unlink()
    progress = Noted()
    done = backfill(declared, pipeline, [], no_spark, progress=progress)
    assert progress.reported["reading offsets"] == (done.missing, done.added + done.bad + done.late)
    replace_hours(declared, pipeline, [HOUR], [], no_spark, progress=progress)
    total, read = progress.reported["reading offsets"]
    assert total >= read > 1000
    side(kafka.bootstrap_servers, f"{topic}.bad", topic, orders)
    done_replay = replay_bad(declared, pipeline, progress)
    assert progress.reported[f"reading offsets of {topic}.bad"] == (
        done_replay.read,
        done_replay.read,
    )


class Noted(Progress):
    """What was done of what, by the name of each part."""

    def __init__(self) -> None:
        super().__init__()
        self.reported: dict[str, tuple[int, int]] = {}

    def begin(self, what: str, total: int = 0) -> None:
        super().begin(what, total)
        self.reported[what] = (total, 0)

    def add(self, count: int) -> None:
        super().add(count)
        self.reported[self._what] = (self._total, self._done)


def test_late_and_bad_records_are_judged_as_in_their_own_batch(
    kafka: Kafka, tmp_path: Path
) -> None:
    declared, orders, _ = filled(kafka, tmp_path, "parquet")
    done = repaired(declared)
    assert (done.added, done.bad, done.late) == (0, len(orders.bad), len(orders.late))


def test_only_offsets_that_are_missing_are_added(kafka: Kafka, tmp_path: Path) -> None:
    declared, orders, topic = filled(kafka, tmp_path, "parquet")
    table = table_of(declared)
    path = Path(table.directory) / table.files()[0]
    rows = pq.read_table(path, partitioning=None)
    gone = sorted(zip(rows.column("partition").to_pylist(), rows.column("offset").to_pylist(),
                      strict=True))[:3]  # fmt: skip
    keep = [
        (row["partition"], row["offset"]) not in gone
        for row in rows.select(["partition", "offset"]).to_pylist()
    ]
    pq.write_table(rows.filter(keep), path)
    words = [f"{topic}:{partition}:{offset}" for partition, offset in gone]
    assert repaired(declared, *words, f"{topic}:1:0-20").added == 3
    assert ids(table.rows()) == sorted(orders.good)


def test_a_time_limits_what_is_added(kafka: Kafka, tmp_path: Path) -> None:
    """The records have the time at which they were produced: all of them before, or after."""
    declared, orders, _ = filled(kafka, tmp_path, "parquet")
    table = table_of(declared)
    (Path(table.directory) / table.files()[0]).unlink()
    now_ms = time.time_ns() // 1_000_000
    hour_ms = 3_600_000
    pipeline = declared.pipelines["orders_lake"]
    missing = len(orders.good) - len(ids(table.rows()))
    later = backfill(declared, pipeline, [], no_spark, Times(now_ms + hour_ms, None))
    earlier = backfill(declared, pipeline, [], no_spark, Times(None, now_ms - hour_ms))
    assert (later.added, earlier.added) == (0, 0)
    now = backfill(declared, pipeline, [], no_spark, Times(now_ms - hour_ms, now_ms + hour_ms))
    assert now.added == missing
    assert ids(table.rows()) == sorted(orders.good)


@pytest.mark.parametrize(
    ("word", "reported"),
    [("other:0:1", "no records of the topic other"), ("{}:x:1", "write TOPIC:PARTITION:FIRST-LAST"),
     ("{}:0:9-3", "ends before it begins"), ("{}:0:1..3", "is no range of offsets"),
     ("{}:0:98-99", "{}:0:98-99 was never read by the pipeline"), ("{}:99:0", "was never read")],
)  # fmt: skip
def test_offsets_that_are_none_are_refused(
    kafka: Kafka, tmp_path: Path, word: str, reported: str
) -> None:
    topic = kafka.topic("orders", partitions=3)
    declared = load(str(pipeline_file(tmp_path, kafka.bootstrap_servers, topic, "parquet")))
    with pytest.raises(PipelineError, match="has written nothing yet"):
        repaired(declared)
    produce(kafka.bootstrap_servers, topic, range(10), Orders())
    ingest(declared)
    with pytest.raises(PipelineError, match=reported.format(topic)):
        repaired(declared, word.format(topic))


def test_records_of_a_topic_that_was_created_again_are_not_added(
    kafka: Kafka, tmp_path: Path
) -> None:
    declared, _, topic = filled(kafka, tmp_path, "parquet")
    table = table_of(declared)
    (Path(table.directory) / table.files()[0]).unlink()
    before = table.last()
    with Cluster(ClientSettings(kafka.bootstrap_servers)) as cluster:
        delete_topics(cluster, [topic])
        with pytest.raises(PipelineError, match=f"topic {topic} does not exist any more"):
            repaired(declared)
        create_topics(cluster, [NewTopic(topic, 3)])
    with pytest.raises(PipelineError, match=f"topic {topic} was deleted and created again"):
        repaired(declared)
    assert table.last() == before


def test_offsets_that_retention_has_deleted_are_reported(kafka: Kafka, tmp_path: Path) -> None:
    declared, _, topic = filled(kafka, tmp_path, "parquet")
    with Cluster(ClientSettings(kafka.bootstrap_servers)) as cluster:
        delete_records(cluster, {TopicPartition(topic, 0): 100})
    table = table_of(declared)
    for path in table.files():
        (Path(table.directory) / path).unlink()
    with pytest.raises(PipelineError, match=f"retention has deleted {topic}:0:5-99"):
        repaired(declared, f"{topic}:0:5-120")
    done = repaired(declared)
    assert done.deleted == 100
    assert min(row["offset"] for row in table.rows().to_pylist() if row["partition"] == 0) == 101


def test_bad_records_are_added_once_they_can_be_decoded(kafka: Kafka, tmp_path: Path) -> None:
    """The declared type was too narrow; then it is corrected."""
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    path = pipeline_file(tmp_path, servers, topic, "parquet")
    declared = load(str(path))
    orders = Orders()
    produce(servers, topic, range(200), orders)
    ingest(declared)
    bad_topic = f"{topic}.bad"
    side(servers, bad_topic, topic, orders)
    done = replay_bad(declared, declared.pipelines["orders_lake"])
    assert (done.read, done.added, done.still_bad) == (len(orders.bad) + 1, 1, len(orders.bad) - 1)
    again = replay_bad(declared, declared.pipelines["orders_lake"])
    assert (again.added, again.present) == (0, 2)  # it is in the topic twice
    table = table_of(declared)
    row = next(row for row in table.rows().to_pylist() if row["id"] == 50)
    assert (row["topic"], row["partition"], row["offset"]) == (topic, 50 % 3, 50 // 3)
    excluded = merge_books(decode_book(each.excluded) for each in chain(table))
    assert sum(sums.count for sums in excluded.values()) == len(orders.bad) - 1


def test_bad_records_of_a_batch_that_is_not_committed_wait_for_it(
    kafka: Kafka, tmp_path: Path
) -> None:
    """The batch is repeated, and may take them itself: they would be in the table twice."""
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    declared = load(str(pipeline_file(tmp_path, servers, topic, "parquet")))
    produce(servers, topic, range(40), Orders())
    ingest(declared)
    orders = Orders()
    orders.bad.add(50)
    side(servers, f"{topic}.bad", topic, orders)
    done = replay_bad(declared, declared.pipelines["orders_lake"])
    assert (done.read, done.added) == (2, 0)


def test_bad_records_of_a_deleted_topic_with_the_same_name_are_not_added(
    kafka: Kafka, tmp_path: Path
) -> None:
    """Their offsets mean other records now."""
    topic, servers = kafka.topic("orders", partitions=3), kafka.bootstrap_servers
    declared = load(str(pipeline_file(tmp_path, servers, topic, "parquet")))
    orders = Orders()
    produce(servers, topic, range(200), orders)
    ingest(declared)
    side(servers, f"{topic}.bad", topic, orders, topic_id="AAAAAAAAAAAAAAAAAAAAAQ")
    done = replay_bad(declared, declared.pipelines["orders_lake"])
    assert (done.read, done.added) == (0, 0)
    table = table_of(declared)
    last = table.last()
    assert last is not None
    side(servers, f"{topic}.bad", topic, orders, topic_id=last.topics[topic])
    done = replay_bad(declared, declared.pipelines["orders_lake"])
    assert (done.read, done.added) == (len(orders.bad) + 1, 1)


def side(servers: str, bad_topic: str, topic: str, orders: Orders, topic_id: str = "") -> None:
    """As a run puts them aside, older releases without the id of the topic; the value of order 50
    is right now, and is there twice."""
    producer = Producer({"bootstrap.servers": servers})
    for number in [*sorted(orders.bad), 50]:
        at = "2026-03-01T10:00:00Z"
        value = json.dumps({"id": 50, "at": at}) if number == 50 else f"order {number}"
        reported = {
            "pipeline": "orders_lake", "topic": topic, "partition": number % 3,
            "offset": number // 3, "timestamp": 1_772_359_200_000, "reason": "not JSON",
        }  # fmt: skip
        reported |= {"topic-id": topic_id} if topic_id else {}
        headers = [(PREFIX + name, str(each).encode()) for name, each in reported.items()]
        producer.produce(bad_topic, value, f"k{number}", headers=headers)
    assert producer.flush(120) == 0
