"""The runs so far: one line of JSON each. `docs/reference/reliability.md` is made of them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.chaos.report import Row

PATH = Path(__file__).with_name("ledger.jsonl")


def add(row: Row) -> None:
    with open(PATH, "a") as file:
        file.write(json.dumps(row.as_dict()) + "\n")


def rows() -> list[Row]:
    if not PATH.exists():
        return []
    return [Row(**json.loads(line)) for line in PATH.read_text().splitlines()]
