"""Charts of a recording as SVG: lines over time, and uptimes of processes.

Promises  pure; colours come from the page's style, so that a chart fits light and dark themes.
          Labels do not overlap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

from demo.recording import Kill

WIDTH, HEIGHT = 920, 240
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 40, 26
LABEL_ROW = 14  # between two rows of labels above a chart
CHARACTER = 6.2  # about the width of one in a label
ROW = 26
TICKS = 5

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    colour: str  # a class of the page's style
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Scale:
    """Converts values to coordinates."""

    end_s: float
    top: float = 1.0
    height: int = HEIGHT

    def x(self, at_s: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * at_s / self.end_s

    def y(self, value: float) -> float:
        return self.bottom - (self.bottom - TOP) * value / self.top

    @property
    def bottom(self) -> int:
        return self.height - BOTTOM


def line_chart(
    title: str, times: Sequence[float], lines: Iterable[Line], kills: Iterable[Kill], end_s: float
) -> str:
    """`times` are up to `end_s`."""
    lines = list(lines)
    largest = max((value for line in lines for value in line.values), default=0.0)
    step = nice_step(largest / TICKS)
    scale = Scale(end_s, step * max(1, math.ceil(largest / step)))
    parts = [horizontal_grid(scale, step), time_axis(scale), kill_marks(scale, kills)]
    parts += [curve(scale, times, line) for line in lines]
    return drawing(title, HEIGHT, parts)


def uptime_chart(
    title: str,
    uptimes: Mapping[str, Sequence[Span]],
    batches: Mapping[str, Sequence[float]],
    kills: Iterable[Kill],
    end_s: float,
) -> str:
    """A row for each process with bars for its uptime, and for each query with its batches."""
    height = TOP + BOTTOM + ROW * (len(uptimes) + len(batches))
    scale = Scale(end_s, height=height)
    parts = [time_axis(scale), kill_marks(scale, kills)]
    rows = iter(range(TOP, height, ROW))
    for name, spans in uptimes.items():
        parts.append(uptime_row(scale, next(rows), name, spans))
    for name, times in batches.items():
        parts.append(batch_row(scale, next(rows), name, times))
    return drawing(title, height, parts)


def drawing(title: str, height: int, parts: Iterable[str]) -> str:
    inner = "\n".join(parts)
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">\n'
        f"{inner}\n</svg>"
    )


def horizontal_grid(scale: Scale, step: float) -> str:
    values = [step * number for number in range(round(scale.top / step) + 1)]
    return "\n".join(
        f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{scale.y(value):.1f}" '
        f'y2="{scale.y(value):.1f}"/><text class="tick" x="{LEFT - 8}" '
        f'y="{scale.y(value) + 4:.1f}" text-anchor="end">{value:,.0f}</text>'
        for value in values
    )


def time_axis(scale: Scale) -> str:
    step = nice_step(scale.end_s / 8)
    ticks = [step * number for number in range(int(scale.end_s / step) + 1)]
    y = scale.bottom
    axis = f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
    return axis + "".join(
        f'<text class="tick" x="{scale.x(at_s):.1f}" y="{y + 17}" '
        f'text-anchor="middle">{at_s:g} s</text>'
        for at_s in ticks
    )


def kill_marks(scale: Scale, kills: Iterable[Kill]) -> str:
    """A line at each kill, and a band until everything has recovered."""
    kills = list(kills)
    labels = place_labels([(scale.x(kill.at_s), kill_label(kill)) for kill in kills])
    return "\n".join(map(partial(kill_mark, scale), kills, labels))


def kill_label(kill: Kill) -> str:
    return f"{kill.what} killed, back in {kill.recovery_s:.1f} s"


@dataclass(frozen=True, slots=True)
class Label:
    """Text above a chart: its extent, and its row, counted from the chart upwards."""

    text: str
    start: float
    end: float
    row: int


def place_labels(wanted: Iterable[tuple[float, str]]) -> list[Label]:
    """Labels that begin at these positions, or end at the right edge, without overlapping."""
    placed: list[Label] = []
    for x, text in wanted:
        width = CHARACTER * len(text)
        start = min(x, WIDTH - RIGHT - width)
        taken = {
            each.row
            for each in placed
            if start < each.end + CHARACTER and each.start < start + width + CHARACTER
        }
        row = next(number for number in range(len(placed) + 1) if number not in taken)
        placed.append(Label(text, start, start + width, row))
    return placed


def kill_mark(scale: Scale, kill: Kill, label: Label) -> str:
    x, y = scale.x(kill.at_s), scale.bottom
    end_x = min(scale.x(kill.at_s + kill.recovery_s), WIDTH - RIGHT)
    label_y = TOP - 11 - LABEL_ROW * label.row
    return (
        f'<rect class="recovery" x="{x:.1f}" y="{TOP}" '
        f'width="{max(0.0, end_x - x):.1f}" height="{y - TOP}"/>'
        f'<line class="kill" x1="{x:.1f}" x2="{x:.1f}" y1="{label_y + 4}" y2="{y}"/>'
        f'<text class="kill-label" x="{label.start:.1f}" y="{label_y}">{escape(label.text)}</text>'
    )


def curve(scale: Scale, times: Sequence[float], line: Line) -> str:
    points = " ".join(
        f"{scale.x(at_s):.1f},{scale.y(value):.1f}"
        for at_s, value in zip(times, line.values, strict=True)
    )
    return f'<polyline class="curve {line.colour}" points="{points}"/>'


def uptime_row(scale: Scale, y: int, name: str, spans: Sequence[Span]) -> str:
    bars = "".join(
        f'<rect class="life" x="{scale.x(start_s):.1f}" y="{y + 7}" rx="3" '
        f'width="{max(1.0, scale.x(end_s) - scale.x(start_s)):.1f}" height="{ROW - 14}">'
        f"<title>{escape(name)}: {start_s:.1f} s to {end_s:.1f} s</title></rect>"
        for start_s, end_s in spans
    )
    return row_label(y, name) + bars


def batch_row(scale: Scale, y: int, name: str, times: Sequence[float]) -> str:
    dots = "".join(
        f'<circle class="batch {name}" cx="{scale.x(at_s):.1f}" cy="{y + ROW / 2}" r="3.5">'
        f"<title>{escape(name)}: batch {number} done at {at_s:.1f} s</title></circle>"
        for number, at_s in enumerate(times)
    )
    return row_label(y, name) + dots


def row_label(y: int, name: str) -> str:
    return (
        f'<text class="tick" x="{LEFT - 8}" y="{y + ROW / 2 + 4}" text-anchor="end">'
        f"{escape(name)}</text>"
    )


def nice_step(rough: float) -> float:
    """1, 2 or 5 times a power of ten, at least as large as `rough`."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
