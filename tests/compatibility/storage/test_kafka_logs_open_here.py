"""Log directories that Apache Kafka wrote open here: every record, offset, time and producer."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from tests.compatibility.storage.conftest import KafkaFiles
from tests.compatibility.storage.kafka_workload import PLANS
from tests.compatibility.storage.our_logs import consume, offset_for_time, open_directory
from tests.support.dump_log_segments import segment_files
from tests.support.kafka_small_files import KafkaSmallFiles

from ottla.base.files.disk import DiskFileSystem
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import (
    HEADER_BYTES,
    BatchHeader,
    encode_header,
    iterate_headers,
    read_header,
    stamp_checksum,
    stamp_offset_and_epoch,
)
from ottla.storage.directories.checkpoints import OffsetCheckpoint
from ottla.storage.directories.log_directory import LogDirectory
from ottla.storage.log.log import Log

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]

TOPICS = pytest.mark.parametrize("topic", PLANS)


@pytest.fixture(scope="module", params=["killed", "stopped"])
def ending(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def opened(
    kafka_files: KafkaFiles, ending: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LogDirectory]:
    copy = tmp_path_factory.mktemp("opened") / ending
    shutil.copytree(kafka_files.log_directory(ending), copy)
    with open_directory(copy) as directory:
        yield directory


def log_of(directory: LogDirectory, topic: str) -> Log:
    return directory.logs[TopicPartition(topic, 0)]


def test_every_partition_opens_without_damage(opened: LogDirectory, ending: str) -> None:
    assert (opened.last_shutdown is not None) == (ending == "stopped")
    assert {partition.topic for partition in opened.logs} >= PLANS.keys()
    assert not opened.table.unreadable
    assert [log for log in opened.logs.values() if log.damage] == []


@TOPICS
def test_consumers_get_the_records_that_kafka_gave(
    kafka_files: KafkaFiles, opened: LogDirectory, topic: str
) -> None:
    written, log = kafka_files.topics[topic], log_of(opened, topic)
    assert (log.log_start_offset, log.log_end_offset) == (
        written.start_offset,
        written.end_offset,
    )
    assert log.last_stable_offset(BLOCKING) == written.stable_offset
    for fetch_bytes in (1, 700, 1_000_000):
        assert consume(log, is_committed=False, fetch_bytes=fetch_bytes) == written.uncommitted
        assert consume(log, is_committed=True, fetch_bytes=fetch_bytes) == written.committed


@TOPICS
def test_reading_can_begin_at_every_offset(
    kafka_files: KafkaFiles, opened: LogDirectory, topic: str
) -> None:
    """The first batch that is read is the first one that ends at or after the offset."""
    written, log = kafka_files.topics[topic], log_of(opened, topic)
    ends = [header.last_offset for header in headers_of(Path(log.path))]
    for offset in range(written.start_offset, written.end_offset):
        data = log.read(BLOCKING, offset, 1, log.log_end_offset).records.read()
        expected = next((end for end in ends if end >= offset), None)
        assert (read_header(data).last_offset if data else None) == expected


def headers_of(directory: Path) -> list[BatchHeader]:
    paths = segment_files(directory, ".log")
    return [header for path in paths for _, header in iterate_headers(path.read_bytes())]


@TOPICS
def test_times_lead_to_the_records_that_kafka_finds(
    kafka_files: KafkaFiles, opened: LogDirectory, topic: str
) -> None:
    """Where Kafka gives up we continue: it takes a segment that compaction has emptied, or records
    before the start of the log, for the place to look, and then finds nothing there."""
    written, log = kafka_files.topics[topic], log_of(opened, topic)
    has_gaps = topic == "trimmed" or PLANS[topic].is_compacted
    for time, found in written.times.items():
        if found is None and has_gaps:
            first = next((r for r in written.uncommitted if r.timestamp >= time), None)
            found = None if first is None else (first.offset, first.timestamp)
        assert offset_for_time(log, time) == found, time


@TOPICS
def test_topic_ids_and_leader_epochs_are_known(
    kafka_files: KafkaFiles, small_files: KafkaSmallFiles, opened: LogDirectory, topic: str
) -> None:
    log = log_of(opened, topic)
    assert log.topic_id.load(BLOCKING) == kafka_files.topics[topic].topic_id
    epochs = small_files.leader_epochs(Path(log.path) / "leader-epoch-checkpoint")
    assert [tuple(entry) for entry in log.epochs.load(BLOCKING).entries] == [
        (epoch, max(start, log.log_start_offset))
        for epoch, start in epochs
        if start < log.log_end_offset  # Kafka drops an epoch without records too when it opens
    ]


@pytest.mark.parametrize("topic", ["idempotent", "transactions", "compacted-transactions"])
def test_producers_go_on_where_they_were(
    kafka_files: KafkaFiles, opened: LogDirectory, topic: str
) -> None:
    """A repeated batch is recognised, one of an older epoch or out of order is refused."""
    log = log_of(opened, topic)
    for producer_id, batch in last_batches(Path(log.path)).items():
        header = read_header(batch)
        if log.producers.load(BLOCKING).producers[producer_id].epoch != header.producer_epoch:
            continue  # its last transaction ended with a new epoch: nothing to repeat
        again = log.append_as_leader(sent_with(batch, header.base_sequence), leader_epoch=9)
        assert again.is_duplicate
        assert (again.first_offset, again.last_offset) == (
            header.base_offset,
            header.last_offset,
        )
        with pytest.raises(BrokerError) as refused:
            log.append_as_leader(sent_with(batch, header.last_sequence + 2), leader_epoch=9)
        assert refused.value.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.log_end_offset == kafka_files.topics[topic].end_offset


def last_batches(directory: Path) -> dict[int, bytes]:
    """The last batch with records of every producer."""
    found = {}
    for path in segment_files(directory, ".log"):
        data = path.read_bytes()
        for position, header in iterate_headers(data):
            if header.has_producer_id and not header.is_control and header.records_count:
                found[header.producer_id] = data[position : position + header.size_bytes]
    return found


def sent_with(batch: bytes, base_sequence: int) -> bytearray:
    """The batch as its producer would send it, with this sequence."""
    header = read_header(batch)._replace(base_offset=0, base_sequence=base_sequence)
    sent = bytearray(encode_header(header)) + batch[HEADER_BYTES:]
    stamp_checksum(sent, 0, len(sent))
    return sent


TAILS = {
    "half a batch": lambda batch: batch[: len(batch) // 2],
    "a header and no more": lambda batch: batch[:HEADER_BYTES],
    "a few bytes": lambda batch: batch[:5],
    "zeros": lambda _batch: bytes(1000),
    "a batch with a wrong byte": lambda batch: batch[:-1] + bytes([batch[-1] ^ 1]),
    "noise": lambda _batch: Random(1).randbytes(300),
}


@pytest.mark.parametrize("tail", TAILS.values(), ids=TAILS.keys())
@pytest.mark.parametrize("topic", ["plain", "codec-zstd", "transactions", "compacted-transactions"])
def test_a_torn_write_behind_the_last_batch_is_cut_off(
    kafka_files: KafkaFiles, tmp_path: Path, topic: str, tail: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "logs").mkdir()
    partition = tmp_path / "logs" / f"{topic}-0"
    shutil.copytree(kafka_files.killed / f"{topic}-0", partition)
    active = segment_files(partition, ".log")[-1]
    whole = active.read_bytes()
    active.write_bytes(whole + tail(next_batch(whole)))
    with open_directory(tmp_path / "logs") as directory:
        log = log_of(directory, topic)
        assert consume(log, is_committed=False) == kafka_files.topics[topic].uncommitted
        assert consume(log, is_committed=True) == kafka_files.topics[topic].committed
        assert active.read_bytes() == whole


def next_batch(data: bytes) -> bytes:
    """The batch that would have come next: like the last one, with the next offsets."""
    position, header = list(iterate_headers(data))[-1]
    batch = bytearray(data[position:])
    stamp_offset_and_epoch(batch, 0, header.next_offset, header.partition_leader_epoch)
    return bytes(batch)


@TOPICS
def test_recovery_rebuilds_the_files_that_kafka_rebuilds(
    kafka_files: KafkaFiles, recovered: Path, topic: str
) -> None:
    """Kafka recovered the same directory: indexes and snapshots are the same bytes, all of them."""
    theirs, ours = kafka_files.stopped / f"{topic}-0", recovered / f"{topic}-0"
    for suffix in (".log", ".index", ".timeindex", ".txnindex", ".snapshot"):
        expected, found = contents(theirs, suffix), contents(ours, suffix)
        if topic == "trimmed":  # Kafka may have deleted what lies before the start meanwhile
            found = {name: data for name, data in found.items() if name in expected}
        assert found == expected, suffix


@pytest.fixture(scope="module")
def recovered(kafka_files: KafkaFiles, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a killed Kafka left, opened here and closed in order."""
    copy = tmp_path_factory.mktemp("recovered") / "logs"
    shutil.copytree(kafka_files.killed, copy)
    with open_directory(copy) as directory:
        directory.close()
    return copy


def contents(directory: Path, suffix: str) -> dict[str, bytes]:
    """All files with the suffix. An empty transaction index is equal to none."""
    found = {path.name: path.read_bytes() for path in segment_files(directory, suffix)}
    return {name: data for name, data in found.items() if data or suffix != ".txnindex"}


@pytest.mark.parametrize("recovery_point", [0, 1, 60])
def test_gaps_that_compaction_left_behind_an_old_recovery_point_are_no_damage(
    kafka_files: KafkaFiles, tmp_path: Path, recovery_point: int
) -> None:
    """Kafka writes recovery points once a minute, and compacts whenever it likes."""
    copy = tmp_path / "logs"
    shutil.copytree(kafka_files.killed, copy)
    compacted = [topic for topic, plan in PLANS.items() if plan.is_compacted]
    points = {TopicPartition(topic, 0): recovery_point for topic in compacted}
    OffsetCheckpoint(DiskFileSystem(), str(copy / "recovery-point-offset-checkpoint")).write(points)
    with open_directory(copy) as directory:
        for topic in compacted:
            log = log_of(directory, topic)
            assert consume(log, is_committed=False) == kafka_files.topics[topic].uncommitted


@pytest.mark.parametrize("topic", ["compacted", "compacted-lz4", "compacted-transactions"])
@pytest.mark.parametrize("has_original", [True, False])
def test_a_swap_of_cleaned_segments_that_kafka_began_is_finished(
    kafka_files: KafkaFiles, tmp_path: Path, topic: str, has_original: bool
) -> None:
    """Killed after the cleaned segment got its `.swap` name, before or after the old one left."""
    partition = tmp_path / "logs" / f"{topic}-0"
    shutil.copytree(kafka_files.killed / f"{topic}-0", partition)
    originals = {path.name.split(".")[0] for path in partition.glob("*.log.deleted")}
    cleaned = [path for path in segment_files(partition, ".log") if path.stem in originals]
    base = next(path.stem for path in cleaned if path.stat().st_size)
    for suffix in (".log", ".index", ".timeindex", ".txnindex"):
        file, original = partition / (base + suffix), partition / f"{base}{suffix}.deleted"
        if file.exists():
            file.rename(f"{file}.swap")
        if has_original and original.exists():
            original.rename(file)
    with open_directory(tmp_path / "logs") as directory:
        log = log_of(directory, topic)
        assert consume(log, is_committed=False) == kafka_files.topics[topic].uncommitted
        assert consume(log, is_committed=True) == kafka_files.topics[topic].committed
    assert not list(partition.glob("*.swap"))


def test_a_round_of_compaction_that_kafka_did_not_end_leaves_nothing(
    kafka_files: KafkaFiles, tmp_path: Path
) -> None:
    partition = tmp_path / "logs" / "compacted-0"
    shutil.copytree(kafka_files.killed / "compacted-0", partition)
    base = segment_files(partition, ".log")[0].stem
    for suffix in (".log", ".index", ".timeindex"):
        (partition / f"{base}{suffix}.cleaned").write_bytes(b"half of something")
    with open_directory(tmp_path / "logs") as directory:
        log = log_of(directory, "compacted")
        assert consume(log, is_committed=False) == kafka_files.topics["compacted"].uncommitted
    assert not list(partition.glob("*.cleaned"))
