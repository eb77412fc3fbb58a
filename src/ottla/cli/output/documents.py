"""The result of a command: text for people, JSON and YAML for programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

FORMATS = ("text", "json", "yaml")


def add_format_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="format of the result (default: text)"
    )


def show(form: str, document: Any, as_text: Callable[[], str]) -> None:
    """Print the document, or as text what `as_text` makes of it."""
    text = as_text() if form == "text" else formatted(form, document)
    if text:
        print(text)


def formatted(form: str, document: Any) -> str:
    if form == "yaml":
        from ottla.cli.output.yaml import to_yaml

        return to_yaml(document)
    import json

    return json.dumps(document, ensure_ascii=False, indent=2)
