"""How results are shown: text for people, JSON and YAML for programs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ottla.cli.yaml_text import to_yaml

FORMATS = ("text", "json", "yaml")
GAP = "  "


def add_format_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="how to show the result (text)"
    )


def show(form: str, document: Any, as_text: Callable[[], str]) -> None:
    """Print the document, or for people what `as_text` makes of it."""
    text = as_text() if form == "text" else formatted(form, document)
    if text:
        print(text)


def formatted(form: str, document: Any) -> str:
    if form == "yaml":
        return to_yaml(document)
    return json.dumps(document, ensure_ascii=False, indent=2)


def table(headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Columns under headers; numbers stand to the right, what is unknown is a dash."""
    given = [list(row) for row in rows]
    is_numeric = [
        any(isinstance(row[i], int) for row in given)
        and all(isinstance(row[i], int | None) for row in given)
        for i in range(len(headers))
    ]
    texts = [list(headers), *([cell(value) for value in row] for row in given)]
    widths = [max(len(row[i]) for row in texts) for i in range(len(headers))]
    return "\n".join(
        GAP.join(
            text.rjust(width) if numeric else text.ljust(width)
            for text, width, numeric in zip(row, widths, is_numeric, strict=True)
        ).rstrip()
        for row in texts
    )


def cell(value: Any) -> str:
    if value is None or value == "" or value == []:
        return "-"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(value)


def facts(pairs: Iterable[tuple[str, Any]]) -> str:
    """Names and values, one a line."""
    given = list(pairs)
    width = max((len(name) for name, _ in given), default=0)
    return "\n".join(f"{name:<{width}}{GAP}{cell(value)}" for name, value in given)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
