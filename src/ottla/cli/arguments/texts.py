"""Options whose value is text."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any


def path_name(text: str) -> str:
    """An argparse type. An empty name, as of a variable that is not set, is not the default."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def new_file(text: str) -> str:
    """An argparse type: a file to write at the end of the work, which would be lost without it."""
    if not os.path.isdir(os.path.dirname(path_name(text)) or "."):
        raise argparse.ArgumentTypeError(f"there is no directory {os.path.dirname(text)}")
    if os.path.isdir(text):
        raise argparse.ArgumentTypeError(f"{text} is a directory")
    return text


class Once(argparse.Action):
    """An option of which a second one would replace the first, though it is meant to be added."""

    def __init__(self, *args: Any, several: str = "", **options: Any) -> None:
        """`several` says how more than one is given, if that is possible."""
        super().__init__(*args, **options)
        self._advice = f"; for several {several}" if several else ""
        self._is_given = False

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option_string: str | None = None,
    ) -> None:
        if self._is_given:
            raise argparse.ArgumentError(self, f"given twice{self._advice}")
        self._is_given = True
        setattr(namespace, self.dest, values)
