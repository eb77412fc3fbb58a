"""Each side's compaction on the other's logs: what must remain remains, what may go goes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.compatibility.storage.conftest import KafkaFiles
from tests.compatibility.storage.kafka_workload import COMPACTED, PLANS
from tests.compatibility.storage.our_logs import consume, newest_values, open_directory
from tests.compatibility.storage.our_workload import CLEANED_MS, LATER_MS, Writer
from tests.support.configs import topic_config
from tests.support.dump_log_segments import DumpLogSegments, segment_files

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.config.layers import BrokerLayers
from ottla.protocol.records.record import Record

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]

NEVER_CLEANED = ["idempotent", "transactions", "codec-lz4"]
CLEANED = [topic for topic, plan in PLANS.items() if plan.is_compacted]


@pytest.mark.parametrize("topic", CLEANED)
def test_our_compaction_continues_where_kafkas_was(
    kafka_files: KafkaFiles, dump: DumpLogSegments, tmp_path: Path, topic: str
) -> None:
    copy = tmp_path / "logs"
    shutil.copytree(kafka_files.stopped / f"{topic}-0", copy / f"{topic}-0")
    written = kafka_files.topics[topic]
    with open_directory(copy) as directory:
        log = directory.logs[TopicPartition(topic, 0)]
        writer = Writer(directory, log)
        writer.leader_epoch = 9
        for at in range(3):
            writer.append(
                [Record(0, CLEANED_MS + at, b"another-%d" % i, b"v" * 40) for i in range(9)]
            )
        expected = newest_values(consume(log, is_committed=True))
        assert expected.items() >= newest_values(written.committed).items()
        log.roll()
        writer.compact(CLEANED_MS + 1000)
        assert newest_values(consume(log, is_committed=True)) == expected
        assert len(consume(log, is_committed=False)) < len(written.uncommitted) + 27
        directory.close()
    for suffix in (".index", ".timeindex"):
        for path in segment_files(copy / f"{topic}-0", suffix):
            dump.check_index(path)
    for path in segment_files(copy / f"{topic}-0", ".log"):
        dump.batches(path)


@pytest.mark.parametrize("topic", NEVER_CLEANED)
@pytest.mark.parametrize("now_ms", [CLEANED_MS, LATER_MS])
def test_our_compaction_cleans_what_kafka_wrote(
    kafka_files: KafkaFiles, dump: DumpLogSegments, tmp_path: Path, topic: str, now_ms: int
) -> None:
    """Aborted records go, those of an open transaction and its producers stay."""
    copy = tmp_path / "logs"
    shutil.copytree(kafka_files.stopped / f"{topic}-0", copy / f"{topic}-0")
    written = kafka_files.topics[topic]
    with open_directory(copy) as directory:
        log = directory.logs[TopicPartition(topic, 0)]
        log.update_config(topic_config(COMPACTED, BrokerLayers()))
        before = consume(log, is_committed=True)
        assert before == written.committed
        Writer(directory, log).compact(now_ms)
        after = consume(log, is_committed=True)
        keyed = {key: value for key, value in newest_values(before).items() if key is not None}
        assert {
            key: value for key, value in newest_values(after).items() if key is not None
        } == keyed
        assert len(after) < len(before)
        assert log.last_stable_offset(BLOCKING) == written.stable_offset
        producers = {
            each: entry.epoch for each, entry in log.producers.load(BLOCKING).producers.items()
        }
        log.producers.unload()
        assert producers == {
            each: entry.epoch for each, entry in log.producers.load(BLOCKING).producers.items()
        }
        directory.close()
    for path in segment_files(copy / f"{topic}-0", ".log"):
        dump.batches(path)
