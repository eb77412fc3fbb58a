"""Timing of small pieces of code, and tables of results.

Processor time of this thread is measured, not wall-clock time: on a busy machine the best of
several repeats is still meaningful. Compare rows of one run, not runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

REPEATS = 7
REPEAT_S_MIN = 0.01  # each repeat calls the function for at least this time


def best_of(function: Callable[[], object], repeats: int = REPEATS) -> float:
    """Seconds per call, in the fastest of `repeats`."""
    function()
    calls = _calls_per_repeat(function)
    return min(_measure(function, calls) for _ in range(repeats)) / calls


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows with aligned columns: the first column left, numbers right."""
    lines = [list(columns), *([_cell(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = ["  ".join(_pad(cells, widths)).rstrip() for cells in lines]
    return "\n".join([title, *text, ""])


def _calls_per_repeat(function: Callable[[], object]) -> int:
    calls = 1
    while (taken := _measure(function, calls)) < REPEAT_S_MIN:
        calls = max(2 * calls, int(calls * REPEAT_S_MIN / max(taken, 1e-9)))
    return calls


def _measure(function: Callable[[], object], calls: int) -> float:
    start = time.thread_time()
    for _ in range(calls):
        function()
    return time.thread_time() - start


def _cell(cell: object) -> str:
    return f"{cell:,.2f}" if isinstance(cell, float) else str(cell)


def _pad(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = zip(cells, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
