"""Transaction markers: the same bytes on both sides, and read alike."""

from __future__ import annotations

import pytest
from tests.support.oracle import Oracle
from tests.support.records_oracle import RecordsOracle

from ottla.protocol.records.control import EndMarker, build_end_marker, read_end_marker

pytestmark = pytest.mark.java


@pytest.mark.parametrize("is_commit", [True, False])
def test_markers_are_the_same_bytes(oracle: Oracle, is_commit: bool) -> None:
    java = RecordsOracle(oracle)
    ours = build_end_marker(
        is_commit,
        17,
        producer_id=2**40,
        producer_epoch=32_767,
        timestamp_ms=1_760_000_000_000,
        base_offset=55,
        leader_epoch=4,
    )
    theirs = java.end_marker(
        is_commit=is_commit,
        coordinator_epoch=17,
        producer_id=2**40,
        producer_epoch=32_767,
        timestamp=1_760_000_000_000,
        base_offset=55,
        leader_epoch=4,
    )
    assert ours == theirs
    assert read_end_marker(theirs) == EndMarker(is_commit, 17)


@pytest.mark.parametrize("is_commit", [True, False])
def test_kafka_takes_our_marker_for_what_it_is(oracle: Oracle, is_commit: bool) -> None:
    data = build_end_marker(is_commit, 3, producer_id=1, producer_epoch=0, timestamp_ms=5)
    (batch,) = RecordsOracle(oracle).read(data)
    (record,) = batch.records
    assert batch.is_control
    assert batch.is_transactional
    assert record.control_type == ("COMMIT" if is_commit else "ABORT")
    assert record.coordinator_epoch == 3
