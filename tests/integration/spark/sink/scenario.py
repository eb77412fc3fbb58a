"""Rows out of a seed: what the jobs write, and what the checker expects, with nothing in common
but this file.

Every key counts its own rows from 0. A step is what one run of a job gets to write.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

KEYS = 40
ROWS_PER_FILE = 1500
FILES_PER_STEP = 2


class Row(NamedTuple):
    key: str
    sequence: int
    payload: str


def rows_of(seed: int, files: int) -> Iterator[Row]:
    chance = random.Random(seed)
    counts = [0] * KEYS
    for _ in range(files * ROWS_PER_FILE):
        number = chance.randrange(KEYS)
        payload = f"{chance.getrandbits(64):016x}" * chance.randrange(1, 6)
        yield Row(f"key-{number:02}", counts[number], payload)
        counts[number] += 1


def write_files(directory: Path, seed: int, files: int) -> None:
    """The first `files` files; those that are there already stay as they are."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = rows_of(seed, files)
    for number in range(files):
        lines = [json.dumps(next(rows)._asdict()) for _ in range(ROWS_PER_FILE)]
        path = directory / f"{number:05}.json"
        if not path.exists():
            hidden = path.with_name(f".{path.name}")
            hidden.write_text("\n".join(lines) + "\n")
            hidden.rename(path)
