"""Options whose value is text."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


def path_name(text: str) -> str:
    """An argparse type. An empty name, as of a variable that is not set, is not the default."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


class Once(argparse.Action):
    """An option of which a second one would replace the first, and is meant to be added to it."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        _option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise argparse.ArgumentError(self, "given twice; several are separated by commas")
        setattr(namespace, self.dest, values)
