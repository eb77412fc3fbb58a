"""The manifest of a commit: which offsets it covers, which files it adds, what they contain.

    _ottla/manifests/00000000000000000012-3f2a....json

    {"version": 1, "number": 12, "name": "...", "previous": "...", "kind": "batch",
     "pipeline": "orders_lake", "query": "<query id>", "batch": 11, "decided_ms": 1772359200000,
     "topics": {"orders": "<topic id>"},
     "starts": {"<topic id>": {"0": 100}}, "ends": {"<topic id>": {"0": 200}},
     "counts": {"read": 100, "written": 97, "filtered": 0, "bad": 1, "late": 2},
     "newest_ms": 1772359199000, "left_out": [<a book of bad and late records>],
     "files": [{"path": "hour=2026-03-01-10/....parquet", "staged": "...", "hour": "2026-03-01-10",
                "rows": 97, "bytes": 4711, "sums": [<a book of the audit>], "stats": {...}}],
     "removed": ["<path of a file that is no longer part of the table>"],
     "forgotten": ["<path of a file that another program has removed from the table before>"]}

Owns      that JSON. `sums` is what `pipelines/sums/record_sums.py` encodes: per topic id, partition
          and ten minutes the count, the bytes, and sums of hashes. They are computed by the task
          that wrote the file, of the rows that it wrote: the tier *booked* of the audit. `left_out`
          is a book of the records that were read and are not in the table.
Promises  `ends` covers all partitions that the table has ever read, so that the last manifest says
          where the next batch begins. Repairs and compactions keep the ends.
Leaves    which manifests are valid to the formats: in a Parquet table all that exist, in the others
          those that the table's own commits name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ottla.pipelines.errors import LakeError

VERSION = 1
BATCH, BACKFILL, REPLAY, COMPACTION = "batch", "backfill", "replay", "compaction"
REPLACEMENT = "replacement"  # of whole hours
REWRITES = (COMPACTION, REPLACEMENT)  # their files replace those that are removed
EXCLUDED = "left_out"  # the stored key of `Manifest.excluded`

# Topic id (as Kafka writes it) to partition (as a text, as JSON has it) to offset.
Offsets = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Counts:
    """Records of one batch: read = written + filtered + bad + late."""

    read: int = 0
    written: int = 0
    filtered: int = 0
    bad: int = 0
    late: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(a + b for a, b in zip(self.numbers(), other.numbers(), strict=True)))

    def numbers(self) -> tuple[int, ...]:
        return (self.read, self.written, self.filtered, self.bad, self.late)


@dataclass(frozen=True)
class LakeFile:
    """A file of the table. Paths are relative to its directory."""

    path: str
    rows: int
    bytes: int
    hour: str | None = None
    staged: str | None = None  # where it lies until it is published
    sums: list[dict[str, Any]] = field(default_factory=list)
    stats: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    pipeline: str
    query: str
    batch: int
    number: int = 0
    name: str = ""
    previous: str | None = None
    kind: str = BATCH
    decided_ms: int = 0
    topics: Mapping[str, str] = field(default_factory=dict)
    starts: Offsets = field(default_factory=dict)
    ends: Offsets = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    newest_ms: int | None = None  # the largest event time of all commits so far
    excluded: list[dict[str, Any]] = field(default_factory=list)  # stored as `left_out`
    files: tuple[LakeFile, ...] = ()
    removed: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    version: int = VERSION

    @property
    def identity(self) -> tuple[str, str, int]:
        return self.pipeline, self.query, self.batch


def encode_manifest(manifest: Manifest) -> bytes:
    fields = asdict(manifest)
    fields[EXCLUDED] = fields.pop("excluded")
    return json.dumps(fields, separators=(",", ":")).encode()


def decode_manifest(text: bytes | str, where: str) -> Manifest:
    """LakeError if it is none, or one of a newer release."""
    try:
        fields = json.loads(text)
        if fields["version"] > VERSION:
            raise LakeError(
                f"{where}: version {fields['version']} of a manifest; this release reads versions "
                f"up to {VERSION}: use the newer release that wrote it"
            )
        fields["files"] = tuple(LakeFile(**each) for each in fields["files"])
        fields["removed"] = tuple(fields["removed"])
        fields["forgotten"] = tuple(fields.get("forgotten", ()))
        fields["counts"] = Counts(**fields["counts"])
        fields["excluded"] = fields.pop(EXCLUDED, [])
        return Manifest(**fields)
    except (ValueError, LookupError, TypeError) as error:
        raise LakeError(
            f"{where}: not a manifest of a table ({error!r}): it was damaged or changed. Restore "
            "it from a backup; do not delete it, or the batch it decides is lost"
        ) from None
