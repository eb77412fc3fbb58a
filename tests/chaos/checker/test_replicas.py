"""Copies of a partition that are equal, and those that are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.chaos.checker.anomalies import Anomaly
from tests.chaos.checker.replicas import batches_of, differences, read_segments
from tests.support.raw_client import batch_of

from ottla.protocol.records.batch import stamp_offset_and_epoch


def log_of(*values: str, epoch: int = 0, start: int = 0) -> bytes:
    """One batch for each value."""
    data = bytearray()
    for offset, value in enumerate(values, start):
        batch = batch_of(value.encode(), timestamp_ms=1)
        stamp_offset_and_epoch(batch, 0, offset, epoch)
        data += batch
    return bytes(data)


def found(high_watermark: int, *copies: Sequence[bytes]) -> list[str]:
    by_broker = {at: list(batches_of(copy)) for at, copy in enumerate(copies, 1)}
    findings = list(differences("k", by_broker, high_watermark))
    assert {each.anomaly for each in findings} <= {Anomaly.DIVERGED}
    return [each.text for each in findings]


def test_copies_with_other_segments_are_equal() -> None:
    whole, parts = [log_of("a", "b", "c")], [log_of("a"), log_of("b", "c", start=1)]
    assert found(3, whole, parts, whole) == []


def test_what_follows_the_high_watermark_may_differ() -> None:
    assert found(1, [log_of("a", "b")], [log_of("a", "c")], [log_of("a")]) == []


def test_another_value_below_the_high_watermark() -> None:
    (text,) = found(2, [log_of("a", "b")], [log_of("a", "x")])
    assert "brokers 1 and 2: the batch of the offsets 1 to 1 differs" in text


def test_another_leader_epoch_is_a_difference() -> None:
    (text,) = found(1, [log_of("a", epoch=3)], [log_of("a", epoch=4)])
    assert "in byte 15" in text  # the last one of the leader epoch


def test_a_copy_that_ends_too_early() -> None:
    ends, differs = found(2, [log_of("a", "b")], [log_of("a")])
    assert ends == "broker 2 ends at 1, below the high watermark 2"
    assert "only one has the batch at offset 1" in differs


def test_an_empty_copy() -> None:
    assert found(0, [], [b""]) == []
    assert found(1, [log_of("a")], [])[0] == "broker 2 ends at 0, below the high watermark 1"


def test_segments_are_read_in_the_order_of_their_offsets(tmp_path: Path) -> None:
    (tmp_path / f"{10:020}.log").write_bytes(b"second")
    (tmp_path / f"{0:020}.log").write_bytes(b"first")
    (tmp_path / f"{0:020}.index").write_bytes(b"no records")
    assert read_segments(tmp_path) == [b"first", b"second"]
