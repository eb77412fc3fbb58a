"""Options whose value is text."""

from __future__ import annotations

import argparse


def path_name(text: str) -> str:
    """An argparse type. An empty name, as of a variable that is not set, is not the default."""
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text
