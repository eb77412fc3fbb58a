"""The plot of throughput and latency compared with Apache Kafka, as an SVG.

`make bench BENCH=end_to_end` prints the tables of `docs/reference/benchmarks.md`, and draws the
plot of that run. The plot in the README is drawn from the page, by `make generate`. A table is
found by its title, a bar by the name of its row; a missing one is an error, so that the plot always
shows the figures of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "benchmarks.md"

OURS, THEIRS = "#2a78b8", "#b8b8b8"  # readable on light and dark backgrounds
TEXT = "#808080"
WIDTH, MARGIN, BAR, GAP, TITLE = 760, 12, 13, 12, 34
LABELS, FIGURES = 250, 120  # widths of the text next to the bars


class Bar(NamedTuple):
    row: str  # in the table
    label: str


class Panel(NamedTuple):
    table: str
    heading: str
    bars: Sequence[Bar]


PANELS = (
    Panel(
        "Produce, confluent-kafka",
        "Produce: thousand records per second (more is better)",
        (
            Bar("100 B, 1 part., none, acks=all, 16 KiB batches", "100 B, acks=all"),
            Bar("100 B, 1 part., lz4, acks=1, 16 KiB batches", "100 B, lz4, acks=1"),
            Bar(
                "1000 B, 6 part., none, acks=all, 64 KiB batches", "1,000 B, 6 partitions, acks=all"
            ),
        ),
    ),
    Panel(
        "Consume, confluent-kafka",
        "Consume: thousand records per second (more is better)",
        (
            Bar("100 B, 1 part., none, acks=all, 16 KiB batches", "100 B"),
            Bar("100 B, 1 part., lz4, acks=1, 16 KiB batches", "100 B, lz4"),
            Bar("1000 B, 6 part., none, acks=all, 64 KiB batches", "1,000 B, 6 partitions"),
        ),
    ),
    Panel(
        "Single records, acks=1, 100 B",
        "Latency of one record, acks=1: microseconds (less is better)",
        (
            Bar("alone, p50", "p50"),
            Bar("alone, p99", "p99"),
            Bar("beside work, p99", "p99 beside compaction and cold reads"),
        ),
    ),
)


class Figures(NamedTuple):
    """Medians."""

    ours: float
    theirs: float


def has_figures(text: str) -> bool:
    """Whether a text has all figures of the plot, of both brokers."""
    return all(
        f"**{panel.table}**" in text
        and {bar.row for bar in panel.bars} <= table_of(text, panel.table).keys()
        for panel in PANELS
    )


def benchmark_plot(text: str | None = None) -> str:
    """The figures of the page, or of a run."""
    text = PAGE.read_text() if text is None else text
    parts: list[str] = []
    y = MARGIN
    for panel in PANELS:
        table = table_of(text, panel.table)
        drawn, y = panel_of(panel, [table[bar.row] for bar in panel.bars], y)
        parts += drawn
    parts += legend(y + 4)
    height = y + 30
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12" fill="{TEXT}">'
    )
    return "\n".join(
        [head, "<title>Ottla compared with Apache Kafka</title>", *parts, "</svg>", ""]
    )


def table_of(text: str, title: str) -> dict[str, Figures]:
    """The medians of each row of a table with this title."""
    start = text.find(f"**{title}**")
    if start < 0:
        raise ValueError(f"there is no table {title!r}")
    rows = {}
    for line in text[start:].split("\n")[1:]:
        if line.startswith("**"):
            break
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        medians = [median_of(cell) for cell in cells[1:3]]
        if len(medians) == 2 and medians[0] is not None and medians[1] is not None:
            rows[cells[0]] = Figures(medians[0], medians[1])
    return rows


def median_of(cell: str) -> float | None:
    """Of `best / median`."""
    found = re.fullmatch(r"[\d.,]+ / ([\d.,]+)", cell)
    return None if found is None else float(found[1].replace(",", ""))


def panel_of(panel: Panel, figures: Sequence[Figures], y: int) -> tuple[list[str], int]:
    parts = [text_at(MARGIN, y + 14, panel.heading, weight="bold")]
    y += TITLE - 12
    largest = max(max(each) for each in figures)
    room = WIDTH - 2 * MARGIN - LABELS - FIGURES
    for bar, (ours, theirs) in zip(panel.bars, figures, strict=True):
        parts.append(text_at(MARGIN, y + BAR + 4, bar.label))
        for value, colour in ((ours, OURS), (theirs, THEIRS)):
            length = max(1, round(room * value / largest))
            left = MARGIN + LABELS
            parts.append(
                f'<rect x="{left}" y="{y}" width="{length}" height="{BAR - 1}" fill="{colour}"/>'
            )
            parts.append(text_at(left + length + 6, y + BAR - 2, f"{value:,.0f}"))
            y += BAR
        y += GAP - 4
    return parts, y + GAP


def legend(y: int) -> Iterable[str]:
    left = MARGIN + LABELS
    for name, colour in (("Ottla", OURS), ("Apache Kafka 4.3.1", THEIRS)):
        yield f'<rect x="{left}" y="{y}" width="{BAR}" height="{BAR - 1}" fill="{colour}"/>'
        yield text_at(left + BAR + 6, y + BAR - 2, name)
        left += 100


def text_at(x: int, y: int, text: str, *, weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}">{escape(text)}</text>'
