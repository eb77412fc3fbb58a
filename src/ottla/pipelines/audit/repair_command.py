"""The command that repairs what a drill has found, `ottla pipeline backfill`.

Owns      which offsets and hours it names, in how many words.
Promises  offsets that the table has and that are right may be among them: a backfill adds only what
          is missing, and with `--replace` whole hours are written again.
Leaves    finding them to `drilling.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from ottla.pipelines.audit.drilling import Drill, Range

SPANS_MAX = 10  # of a partition


def span_text(start: int, end: int) -> str:
    return str(start) if end == start + 1 else f"{start}-{end - 1}"


def repair_command(found: Sequence[Drill], pipeline: str, file: str = "FILE") -> str | None:
    """The one command that repairs the table; None if nothing is wrong, or nothing can be done.
    What is only missing is added; other rows go with their whole hours."""
    is_wrong = any(each.has_wrong_rows for each in found)
    offsets = _offsets_text(found, with_rows=is_wrong)
    hours = sorted({_hour_of(path) for each in found for path in each.changed_files})
    if not offsets and not hours:
        return None
    words = ["ottla pipeline backfill", file, pipeline]
    words += ["--replace"] if is_wrong else []
    words += ["--hours", *hours] if hours else []
    return " ".join([*words, *(["--offsets", *offsets] if offsets else [])])


def _offsets_text(found: Sequence[Drill], *, with_rows: bool) -> list[str]:
    """`orders:0:100-199,300`, for each partition."""
    spans: dict[tuple[str, int], set[Range]] = {}
    for each in found:
        rows = [*each.doubled, *each.unknown, *each.suspect, *((at, at + 1) for at in each.changed)]
        known = spans.setdefault((each.topic, each.key.partition), set())
        known.update([*each.missing, *(rows if with_rows else ())])
    return [
        f"{topic}:{partition}:{','.join(span_text(*span) for span in joined_spans(known))}"
        for (topic, partition), known in sorted(spans.items())
        if known
    ]


def joined_spans(spans: Collection[Range], spans_max: int = SPANS_MAX) -> list[Range]:
    """Sorted, and no more than `spans_max`: otherwise spans close to each other become one, which
    adds nothing that the table has."""
    ordered = sorted(spans)
    gaps = sorted(after[0] - before[1] for before, after in pairwise(ordered))
    width = max(0, gaps[-spans_max]) if len(gaps) >= spans_max else 0
    found: list[list[int]] = []
    for start, end in ordered:
        if found and start - found[-1][1] <= width:
            found[-1][1] = max(end, found[-1][1])
        else:
            found.append([start, end])
    return [(start, end) for start, end in found]


def _hour_of(path: str) -> str:
    """The hour of a file, by its directory."""
    hour = path.partition("/")[0].removeprefix("hour=")
    return "none" if hour.startswith("__") else hour
