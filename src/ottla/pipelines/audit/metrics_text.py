"""The books as a text file for Prometheus (the textfile collector of its node exporter)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ottla.pipelines.audit.books import TopicBook
from ottla.pipelines.audit.comparison import State

HELP = {
    "ottla_audit_complete_ratio": "Share of the audited records that are there.",
    "ottla_audit_complete_until_seconds": "Every record before this time is there.",
    "ottla_audit_lag_seconds": "Time since then.",
    "ottla_audit_buckets": "Buckets of ten minutes in a state.",
    "ottla_audit_audited_until_seconds": "Up to here the reference tier has counted everything.",
}


def metrics_text(books: Sequence[TopicBook]) -> str:
    """A topic that was not audited has no ratio: alert on its absence, or on the buckets."""
    samples: dict[str, list[str]] = {name: [] for name in HELP}
    for book in books:
        labels = f'topic="{_escaped(book.topic)}",tier="{_escaped(book.tier)}"'

        def add(name: str, value: float | None, more: str = "", labels: str = labels) -> None:
            if value is not None:
                samples[name].append(f"{name}{{{labels}{more}}} {value:.17g}")

        add("ottla_audit_complete_ratio", book.share)
        add("ottla_audit_complete_until_seconds", _seconds(book.complete_until_ms))
        add("ottla_audit_lag_seconds", _seconds(book.lag_ms))
        add("ottla_audit_audited_until_seconds", _seconds(book.audited_until_ms))
        counts = Counter(each.state for each in book.verdicts.values())
        for state in State:
            add("ottla_audit_buckets", counts[state], f',state="{state.value}"')
    lines = []
    for name, found in samples.items():
        lines += [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge", *found]
    return "\n".join(lines) + "\n"


def _seconds(time_ms: int | None) -> float | None:
    return None if time_ms is None else time_ms / 1000


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
