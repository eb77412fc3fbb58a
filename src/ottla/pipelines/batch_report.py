"""The record of a pipeline's last batch, in the compacted topic `ottla-pipelines`.

    key     the name of the pipeline
    value   {"version": 1, "pipeline": "orders_lake", "state": "running", "query": "<query id>",
             "batch": 11, "started_ms": ..., "finished_ms": ..., "topics": {"orders": "<topic id>"},
             "starts": {"<topic id>": {"0": 100}}, "ends": {"<topic id>": {"0": 200}},
             "counts": {"read": 100, "written": 97, "filtered": 0, "bad": 1, "late": 2},
             "totals": {...}, "newest_ms": 1772359199000, "limit": 1000000, "every_ms": 30000,
             "to": "lake /data/orders (delta)", "failure": null, "unknown_fields": {"colour": 3}}

Owns      that JSON. `starts` and `ends` are the offsets that the batch read; `counts` is of the
          batch, read = written + filtered + bad + late; `totals` is since the query began. A query
          with windows has no `filtered`: its rows are not the records.
Promises  written after the batch is committed: it may be missing after a crash, and is then
          written again with the repeated batch; it is never ahead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from ottla.pipelines.declaration.tree import Lake, Pipeline
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.lake.manifest import Counts, Offsets

TOPIC = "ottla-pipelines"
VERSION = 1
RUNNING, FAILED, STOPPED = "running", "failed", "stopped"


@dataclass(frozen=True)
class BatchReport:
    pipeline: str
    state: str = RUNNING
    query: str = ""
    batch: int = -1
    started_ms: int = 0
    finished_ms: int = 0
    topics: Mapping[str, str] = field(default_factory=dict)
    starts: Offsets = field(default_factory=dict)
    ends: Offsets = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    totals: Counts = field(default_factory=Counts)
    newest_ms: int | None = None
    limit: int = 0
    every_ms: int = 0
    to: str = ""
    failure: str | None = None
    unknown_fields: Mapping[str, int] = field(default_factory=dict)
    version: int = VERSION

    @property
    def rows_per_s(self) -> float | None:
        took_ms = self.finished_ms - self.started_ms
        return None if took_ms <= 0 else self.counts.read * 1000 / took_ms


def target_text(pipeline: Pipeline) -> str:
    """What a pipeline writes to, as reports name it."""
    to = pipeline.to
    return f"lake {to.lake} ({to.format})" if isinstance(to, Lake) else f"topic {to.topic}"


def encode_report(report: BatchReport) -> bytes:
    return json.dumps(asdict(report), separators=(",", ":")).encode()


def decode_report(value: bytes) -> BatchReport:
    """PipelineError if it is none, or one of a newer release."""
    try:
        fields = json.loads(value)
        if fields["version"] > VERSION:
            raise PipelineError(
                f"the topic {TOPIC} has a record of version {fields['version']}; this release "
                f"reads versions up to {VERSION}: use the newer release that wrote it"
            )
        counts, totals = Counts(**fields.pop("counts")), Counts(**fields.pop("totals"))
        return BatchReport(**fields, counts=counts, totals=totals)
    except (ValueError, LookupError, TypeError) as error:
        raise PipelineError(
            f"the topic {TOPIC} has a record that is no report of a pipeline: {error!r}"
        ) from None
