"""The HTML report of a run: figures, three charts, the comparison. One file without dependencies.

Promises  a pure function of the recording; works in light and dark themes, and without scripts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from html import escape
from importlib import resources
from itertools import accumulate

from demo.charts import Line, line_chart, uptime_chart
from demo.checker import COLUMNS
from demo.recording import Recording, Sample
from demo.scenario import QUERIES

RATE_WINDOW_S = 5.0  # longer than a few batches, which would otherwise be peaks
LEADER_COLOURS = ("lake", "latest", "alerts", "sent")  # of brokers, in order


def draw_page(recording: Recording) -> str:
    assets = resources.files("demo") / "assets"
    return (
        (assets / "page.html")
        .read_text()
        .replace("{{style}}", (assets / "page.css").read_text())
        .replace("{{script}}", (assets / "page.js").read_text())
        .replace("{{verdict}}", verdict(recording))
        .replace("{{summary}}", summary(recording))
        .replace("{{figures}}", figures(recording))
        .replace(
            "{{charts}}",
            "\n".join(
                [throughput(recording), lag(recording), *replicas(recording), uptimes(recording)]
            ),
        )
        .replace("{{comparison}}", comparison_table(recording))
        .replace("{{audit}}", audit_section(recording))
    )


def verdict(recording: Recording) -> str:
    if recording.audit is not None and recording.audit.disagreements:
        return '<p class="verdict bad">✗ Checker and audit disagree: see below.</p>'
    if recording.is_matching:
        return '<p class="verdict good">✓ Everything matches: nothing lost, nothing duplicated.</p>'
    return '<p class="verdict bad">✗ There are differences: see the table below.</p>'


def summary(recording: Recording) -> str:
    it = recording.scenario
    sending_s = sum(end_s - start_s for start_s, end_s in recording.spans.get("generator", []))
    words = (
        f"{it.trucks} trucks sent {it.events:,} events in {sending_s:.0f} s (seed {it.seed}). "
        "Three pipelines on Spark wrote them to a Parquet lake, kept each truck's latest position "
        "in a compacted topic and raised alerts for trucks that were driven for too long."
    )
    if recording.sabotage:
        words += f" Sabotage: {recording.sabotage}."
    if recording.repair:
        words += f" Repaired with: {recording.repair}."
    if recording.failures:
        words += f" Restarted after a failure: {'; '.join(recording.failures).rstrip('.')}."
    return f"<p>{escape(words)}</p>"


def figures(recording: Recording) -> str:
    """The most important numbers."""
    lost = sum(comparison.lost for comparison in recording.comparisons)
    duplicated = sum(comparison.duplicated for comparison in recording.comparisons)
    lag_max = max((max(lags_of(sample).values()) for sample in recording.samples), default=0)
    tiles = [
        ("events", f"{recording.scenario.events:,}"),
        ("lost", f"{lost:,}"),
        ("duplicated", f"{duplicated:,}"),
        ("largest lag, events", f"{lag_max:,}"),
    ]
    tiles += [(f"{kill.what} recovery", f"{kill.recovery_s:.1f} s") for kill in recording.kills]
    return "\n".join(
        f'<div class="tile"><span class="number">{value}</span><span>{escape(name)}</span></div>'
        for name, value in tiles
    )


def throughput(recording: Recording) -> str:
    samples = recording.samples
    lines = [
        Line("acknowledged", "sent", rates(samples, lambda each: each.acknowledged)),
        Line("written to the lake", "lake", rates(samples, lambda each: each.done["lake"])),
    ]
    about = f"Events a second, each point over the last {RATE_WINDOW_S:.0f} s."
    return line_figure("Throughput", about, recording, lines)


def lag(recording: Recording) -> str:
    lags = [lags_of(sample) for sample in recording.samples]
    lines = [Line(query, query, [each[query] for each in lags]) for query in QUERIES]
    about = "Events that are acknowledged and not yet in a finished batch, by query."
    return line_figure("Lag", about, recording, lines)


def replicas(recording: Recording) -> list[str]:
    """Leaders, in-sync replicas and committed events of a cluster; nothing for one broker."""
    end_s = end_of(recording)
    samples = [sample for sample in recording.replicas if sample.at_s <= end_s]
    if not samples:
        return []
    brokers = sorted({each for sample in samples for each in sample.leaders.values() if each >= 0})
    led = [
        Line(
            f"led by broker {broker}",
            LEADER_COLOURS[number % len(LEADER_COLOURS)],
            [sum(each == broker for each in sample.leaders.values()) for sample in samples],
        )
        for number, broker in enumerate(brokers)
    ]
    in_sync = [sum(map(len, sample.in_sync.values())) for sample in samples]
    committed = highest([sum(sample.high_watermarks.values()) for sample in samples])
    times = [sample.at_s for sample in samples]
    return [
        line_figure(
            "Leaders and in-sync replicas",
            "Partitions of the topic of events, by leader, and its replicas that are in sync.",
            recording,
            [*led, Line("replicas in sync", "sent", in_sync)],
            times,
        ),
        line_figure(
            "Committed",
            "Events below the high watermark: they are on all in-sync replicas.",
            recording,
            [Line("events", "lake", committed)],
            times,
        ),
    ]


def highest(values: list[int]) -> list[int]:
    """Of all values so far: while a partition has no leader, its high watermark is not known."""
    return list(accumulate(values, max))


def uptimes(recording: Recording) -> str:
    end_s = end_of(recording)
    spans = {
        name: [(start_s, min(stop_s, end_s)) for start_s, stop_s in recording.spans.get(name, [])]
        for name in sorted(recording.spans, key=process_order)
    }
    batches = {
        name: [at_s for at_s in times if at_s <= end_s] for name, times in recording.batches.items()
    }
    title = "Recovery"
    about = "Uptime of each process (bars), and completed batches of each query (dots)."
    chart = uptime_chart(title, spans, batches, recording.kills, end_s)
    return f"<figure><h2>{title}</h2><p>{about}</p>{chart}</figure>"


def end_of(recording: Recording) -> float:
    """Where all charts end."""
    return max((sample.at_s for sample in recording.samples), default=1.0)


def process_order(name: str) -> tuple[bool, str]:
    """Brokers first."""
    return (not name.startswith("broker"), name)


def line_figure(
    title: str,
    about: str,
    recording: Recording,
    lines: list[Line],
    times: list[float] | None = None,
) -> str:
    """`times` are those of the samples, unless others are given."""
    times = [sample.at_s for sample in recording.samples] if times is None else times
    legend = "".join(
        f'<span class="key"><i class="{line.colour}"></i>{escape(line.name)}</span>'
        for line in lines
    )
    data = {
        "end": end_of(recording),
        "times": [round(at_s, 2) for at_s in times],
        "lines": [[line.name, [round(value) for value in line.values]] for line in lines],
    }
    chart = line_chart(title, times, lines, recording.kills, end_of(recording))
    return (
        f'<figure class="lines"><h2>{title}</h2><p>{about}</p><div class="legend">{legend}</div>'
        f'<div class="plot">{chart}</div>'
        f'<script type="application/json">{json.dumps(data)}</script></figure>'
    )


def comparison_table(recording: Recording) -> str:
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    rows = []
    for comparison in recording.comparisons:
        cells = "".join(f"<td>{getattr(comparison, name):,}</td>" for name in COLUMNS)
        rows.append(f"<tr><th>{escape(comparison.what)}</th>{cells}</tr>")
        rows += [
            f'<tr class="note"><td colspan="{len(COLUMNS) + 1}">{escape(note)}</td></tr>'
            for note in comparison.notes
        ]
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def audit_section(recording: Recording) -> str:
    result = recording.audit
    if result is None:
        return "<p>The audit did not run.</p>"
    state = "all complete" if result.is_complete else f"{result.faults:,} at fault"
    words = f"{result.records:,} records in {result.buckets:,} buckets: {state}."
    agreement = "It agrees with the checker." if not result.disagreements else ""
    lines = [*result.details.splitlines(), *result.disagreements]
    details = f"<pre>{escape(chr(10).join(lines))}</pre>" if lines else ""
    link = '<a href="audit.html">The page of the audit</a>'
    return f"<p>{words} {agreement} {link} shows every bucket.</p>{details}"


def lags_of(sample: Sample) -> dict[str, int]:
    return {query: max(0, sample.acknowledged - done) for query, done in sample.done.items()}


def rates(samples: Sequence[Sample], count: Callable[[Sample], int]) -> list[float]:
    """For each sample, the mean over the window before it."""
    found = []
    first = 0
    for sample in samples:
        while sample.at_s - samples[first].at_s > RATE_WINDOW_S:
            first += 1
        past_s = sample.at_s - samples[first].at_s
        found.append((count(sample) - count(samples[first])) / past_s if past_s else 0.0)
    return found
