"""Producer state is a function of the log: of Kafka's logs it gives what Kafka kept beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.compatibility.storage.conftest import KafkaFiles
from tests.support.dump_log_segments import DumpLogSegments, segment_files

from ottla.protocol.records.batch import BatchHeader, iterate_headers
from ottla.protocol.records.control import EndMarker, read_end_marker
from ottla.storage.producers.producer_snapshot import encode_snapshot
from ottla.storage.producers.producer_state import ProducerStates

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]

ENDINGS = pytest.mark.parametrize("ending", ["killed", "stopped"])


def batches_of(directory: Path) -> Iterator[tuple[BatchHeader, EndMarker | None]]:
    for path in segment_files(directory, ".log"):
        data = path.read_bytes()
        for position, header in iterate_headers(data):
            yield header, read_end_marker(data, position) if header.is_control else None


@ENDINGS
@pytest.mark.parametrize("topic", ["plain", "idempotent", "transactions"])
def test_replaying_the_log_gives_kafkas_snapshots_byte_for_byte(
    kafka_files: KafkaFiles, ending: str, topic: str
) -> None:
    directory = kafka_files.log_directory(ending) / f"{topic}-0"
    snapshots = {int(path.stem): path for path in segment_files(directory, ".snapshot")}
    assert len(snapshots) > 1
    states = ProducerStates()
    for header, marker in batches_of(directory):
        if path := snapshots.pop(header.base_offset, None):
            assert encode_snapshot(states.producers) == path.read_bytes(), path
        states.apply(header, marker)
    if path := snapshots.pop(states.end_offset, None):
        assert encode_snapshot(states.producers) == path.read_bytes(), path
    assert not snapshots


@ENDINGS
def test_replaying_the_log_gives_kafkas_aborted_transactions_and_last_stable_offset(
    kafka_files: KafkaFiles, dump: DumpLogSegments, ending: str
) -> None:
    written = kafka_files.topics["transactions"]
    directory = kafka_files.log_directory(ending) / "transactions-0"
    states, aborted = ProducerStates(), []
    for header, marker in batches_of(directory):
        completed = states.apply(header, marker)
        if completed is not None and completed.is_aborted:
            aborted.append(
                (
                    completed.producer_id,
                    completed.first_offset,
                    completed.last_offset,
                    completed.last_stable_offset,
                )
            )
        states.high_watermark_advanced(states.end_offset)
    indexes = segment_files(directory, ".txnindex")
    assert aborted == [entry for path in indexes for entry in dump.aborted_transactions(path)]
    assert states.last_stable_offset(states.end_offset) == written.stable_offset
    assert states.end_offset == written.end_offset
