"""Tables and lists of fields for people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ottla.cli.output.printable import display_width, printable

GAP = "  "
UNKNOWN = "-"


class Column(NamedTuple):
    """One column of a table: its header, and which field of each document it shows."""

    header: str
    field: str
    format: Callable[[Any], Any] | None = None  # what to show instead of the field itself

    def value_of(self, document: Mapping[str, Any]) -> Any:
        value = document[self.field]
        return value if self.format is None or value is None else self.format(value)


def table(columns: Sequence[Column], documents: Iterable[Mapping[str, Any]]) -> str:
    """Values under headers; numbers are aligned to the right, an unknown value is a dash."""
    rows = [[column.value_of(document) for column in columns] for document in documents]
    is_numeric = [
        any(isinstance(row[i], int) for row in rows)
        and all(isinstance(row[i], int | None) for row in rows)
        for i in range(len(columns))
    ]
    texts = [
        [column.header for column in columns],
        *([cell(value) for value in row] for row in rows),
    ]
    widths = [max(display_width(row[i]) for row in texts) for i in range(len(columns))]
    return "\n".join(
        GAP.join(
            padded(text, width, aligns_right=numeric)
            for text, width, numeric in zip(row, widths, is_numeric, strict=True)
        ).rstrip()
        for row in texts
    )


def padded(text: str, width: int, *, aligns_right: bool) -> str:
    padding = " " * (width - display_width(text))
    return padding + text if aligns_right else text + padding


def fields_text(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values, one pair a line."""
    given = list(pairs)
    width = max((len(name) for name, _ in given), default=0)
    return "\n".join(f"{name:<{width}}{GAP}{cell(value)}" for name, value in given)


def cell(value: Any) -> str:
    if value is None or value == "" or value == []:
        return UNKNOWN
    if isinstance(value, list | tuple):
        return ",".join(cell(each) for each in value)
    return printable(str(value), kept="")


def count_text(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
