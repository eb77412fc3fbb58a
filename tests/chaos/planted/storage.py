"""Planted bugs of logs, their indexes, and the state of producers."""

from __future__ import annotations

from typing import Any

from tests.chaos.planted.plant import Patch, Plant

READING = "ottla.storage.log.read_range"
STATES = "ottla.storage.producers.producer_state:ProducerStates"


def window_of_one(_real: Any) -> Any:
    from ottla.storage.producers.producer_entry import _WORDS

    return _WORDS


def nothing_known(_real: Any) -> Any:
    def load_states(
        _reader: Any, _snapshots: Any, _segments: Any, end_offset: int, bound: Any
    ) -> Any:
        from ottla.storage.producers.producer_state import ProducerStates

        states = ProducerStates(end_offset)
        states.bound = bound.of_one_partition()
        return states

    return load_states


def nothing_aborted(_real: Any) -> Any:
    return lambda *_arguments: []


def relative_offsets(real: Any) -> Any:
    """They count from the offset of the fetch."""

    def find_aborted(reader: Any, log: Any, segment: Any, offset: int, end_position: int) -> Any:
        found = real(reader, log, segment, offset, end_position)
        return [each._replace(first_offset=each.first_offset - offset) for each in found]

    return find_aborted


def up_to_high_watermark(_real: Any) -> Any:
    return lambda _self, high_watermark: high_watermark


def one_later(real: Any) -> Any:
    return lambda self, reader, offset: real(self, reader, offset + 1)


def always_valid(_real: Any) -> Any:
    return lambda *_arguments: True


def not_recognised(_real: Any) -> Any:
    return lambda *_arguments: None


def not_synced(_real: Any) -> Any:
    return lambda _self: None


STORAGE: dict[str, Plant] = {
    "dedup-window-of-one": Plant(
        "recognises only the last batch of a producer when it is repeated",
        [Patch("ottla.storage.producers.producer_entry", "_FULL", window_of_one)],
        ["lose", "reset", "kill-one"],
        expected="clients",  # sequences that are repeated are out of order
        seconds=60.0,
        test="tests/unit/storage/producers",
    ),
    "producer-state-not-rebuilt": Plant(
        "a broker that starts knows no producers",
        [
            Patch(f"ottla.storage.log.{each}", "load_states", nothing_known)
            for each in ("log_producers", "recovery", "log_files")
        ],
        ["lose"],
        test=(
            "tests/unit/storage/log/test_recovery.py "
            "tests/unit/storage/log/test_lost_snapshots.py "
            "tests/unit/storage/producers"
        ),
    ),
    "aborted-list-empty": Plant(
        "responses name no aborted transactions",
        [Patch(READING, "find_aborted", nothing_aborted)],
        ["client"],
        seconds=15.0,
    ),
    "aborted-list-relative": Plant(
        "the first offsets of aborted transactions count from the offset of the fetch",
        [Patch(READING, "find_aborted", relative_offsets)],
        ["client"],
        seconds=15.0,
        test=(
            "tests/unit/storage/log/test_aborted_over_segments.py "
            "tests/unit/storage/log/test_read_range.py"
        ),
    ),
    "lso-too-eager": Plant(
        "readers of committed data see all up to the high watermark",
        [Patch(STATES, "last_stable_offset", up_to_high_watermark)],
        ["client"],
        seconds=15.0,
        test="tests/unit/storage/producers tests/unit/storage/log/test_read_range.py",
    ),
    "index-off-by-one": Plant(
        "a search in the offset index is for the next offset",
        [Patch("ottla.storage.indexes.offset_index:OffsetIndex", "lookup", one_later)],
        ["client", "member", "kill-one"],
        seconds=30.0,
    ),
    "checksum-unchecked": Plant(
        "batches with a wrong checksum are appended",
        [
            Patch("ottla.storage.log.admission", "recognise", not_recognised),
            Patch("ottla.storage.log.admission", "has_valid_checksum", always_valid),
            Patch("ottla.protocol.records.checking", "has_valid_checksum", always_valid),
        ],
        ["flip"],
        seconds=30.0,
    ),
    "fsync-skipped": Plant(
        "files are not synced",
        [Patch("ottla.storage.log.flushing:FlushJob", "run", not_synced)],
        test="tests/simulation/partitions/test_partition_simulation.py -k survive",
    ),
}
