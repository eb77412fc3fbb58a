"""Kafka's DumpLogSegments, and what it prints about each kind of file as values.

Promises  what the tool complains about (mismatches, offsets out of order) is never overlooked:
          it raises `Complaint`. Except for what compaction leaves: gaps between offsets, and
          batches without records, whose time the tool takes for -1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.java_clients import run_tool
from tests.support.oracle import Oracle

TOOL = "org.apache.kafka.tools.DumpLogSegments"
Fields = dict[str, str]

_FIELD = re.compile(r"(\w+): (\S+)")
_RECORD = re.compile(
    r"\| offset: (\d+) (\w+): (-?\d+) keySize: (-?\d+) valueSize: (-?\d+) "
    r"sequence: (-?\d+) headerKeys: \[(.*?)\](.*)"
)
_HARMLESS = re.compile(
    r"Non-consecutive offsets in .*|  -?\d+ is followed by \d+"
    r"|  Index timestamp: \d+, log timestamp: -1"
)
_TIMES_HEADLINE = "Found timestamp mismatch in :"


class Complaint(Exception):
    """The tool found something wrong with a file."""


@dataclass(frozen=True, slots=True)
class DumpedRecord:
    offset: int
    timestamp: int
    timestamp_type: str
    key_bytes: int
    value_bytes: int
    sequence: int
    header_keys: tuple[str, ...]
    rest: str  # " key: ... payload: ...", or what a control record says


@dataclass(frozen=True, slots=True)
class DumpedBatch:
    fields: Fields
    records: tuple[DumpedRecord, ...]

    def number(self, name: str) -> int:
        return int(self.fields[name])


class DumpLogSegments:
    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def batches(self, path: Path) -> list[DumpedBatch]:
        """A `.log` file, every record decoded. Complaint unless every checksum is right."""
        batches = batches_in(self.dump(path, "--deep-iteration", "--print-data-log"))
        if wrong := [batch for batch in batches if batch.fields["isvalid"] != "true"]:
            raise Complaint(f"{path}: {wrong}")
        return batches

    def offset_entries(self, path: Path) -> list[tuple[int, int]]:
        """(offset, position) of an `.index`, each compared with the batch it points to."""
        return [(int(f["offset"]), int(f["position"])) for f in self._index_fields(path)]

    def time_entries(self, path: Path) -> list[tuple[int, int]]:
        """(timestamp, offset) of a `.timeindex`, each compared with the records."""
        return [(int(f["timestamp"]), int(f["offset"])) for f in self._index_fields(path)]

    def aborted_transactions(self, path: Path) -> list[tuple[int, int, int, int]]:
        """(producer id, first offset, last offset, last stable offset) of a `.txnindex`."""
        names = ("producerId", "firstOffset", "lastOffset", "lastStableOffset")
        rows = [[int(f[name]) for name in names] for f in fields_in(self.dump(path))]
        return [(row[0], row[1], row[2], row[3]) for row in rows]

    def producers(self, path: Path) -> list[Fields]:
        """The entries of a producer `.snapshot`, as the tool names their fields."""
        return fields_in(self.dump(path))

    def check_index(self, path: Path) -> None:
        """What a broker checks at its start, and every entry against the records."""
        self.dump(path, "--index-sanity-check")
        self.dump(path, "--verify-index-only")

    def _index_fields(self, path: Path) -> list[Fields]:
        if not any(path.read_bytes()):
            return []  # room for entries and none made yet: the tool would treat one as real
        return fields_in(self.dump(path))

    def dump(self, path: Path, *options: str) -> str:
        """What the tool says about one file, after the line with its name."""
        printed = run_tool(self._oracle, TOOL, *options, "--files", str(path))
        serious = [x for x in printed.complaints.splitlines() if not _HARMLESS.fullmatch(x)]
        if printed.status or not all(line.startswith(_TIMES_HEADLINE) for line in serious):
            raise Complaint(f"{path}: {printed.complaints or printed.status}")
        return printed.text.partition("\n")[2]


def fields_in(text: str) -> list[Fields]:
    """The lines that have fields; others only say that a file is empty or passed."""
    return [fields for line in text.splitlines() if (fields := dict(_FIELD.findall(line)))]


def batches_in(text: str) -> list[DumpedBatch]:
    heads: list[Fields] = []
    records: list[list[DumpedRecord]] = []
    for line in text.splitlines():
        if line.startswith("| "):
            records[-1].append(record_in(line))
        elif line.startswith("baseOffset: "):
            heads.append(dict(_FIELD.findall(line)))
            records.append([])
    return [DumpedBatch(head, tuple(rows)) for head, rows in zip(heads, records, strict=True)]


def record_in(line: str) -> DumpedRecord:
    found = _RECORD.fullmatch(line)
    assert found is not None, line
    offset, timestamp_type, timestamp, key_bytes, value_bytes, sequence, keys, rest = found.groups()
    return DumpedRecord(
        int(offset),
        int(timestamp),
        timestamp_type,
        int(key_bytes),
        int(value_bytes),
        int(sequence),
        tuple(keys.split(",")) if keys else (),
        rest,
    )


def segment_files(directory: Path, suffix: str) -> Sequence[Path]:
    """The files of a partition with this suffix, in the order of their offsets."""
    return sorted(directory.glob(f"*{suffix}"))
