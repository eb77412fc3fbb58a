"""The page `docs/reference/differences.md`: every allowed difference, from the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.compatibility.differential.allowed import Allowed
from tests.compatibility.differential.recording import shown_versions
from tests.compatibility.differential.scripting import Run

from ottla.protocol.api_keys import APIS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "differences.md"
_HEADER = """\
<!-- Generated from tests/compatibility/differential/differences.py. Do not edit:
     python -m tools.differential --page renews it. -->

# Where answers differ from Apache Kafka's

{runs:,} scripts in all their versions send the same requests, right and wrong ones, to Apache Kafka
4.3.1 and to Ottla, and the answers are compared field by field. These are the differences. Every
other field of every answer is the same, error codes included; an entry that is no longer true fails
the tests, too.

Not compared: what is different by nature (ids, ports, times, the size of disks), which placeholder
stands for; the words of error messages; and the order of lists that Kafka leaves to a hash table.

In fields and requests `*` stands for anything. A request is called as its script calls it.

| API | versions | request | field | why |
| --- | --- | --- | --- | --- |
"""


def differences_page(allowed: Iterable[Allowed], runs: list[Run]) -> str:
    scripts = len({run.script.name for run in runs})
    return _HEADER.format(runs=scripts) + "".join(rows(allowed, runs))


def rows(allowed: Iterable[Allowed], runs: list[Run]) -> Iterator[str]:
    for entry in allowed:
        versions = shown_versions(entry.tried_versions(runs))
        cells = (APIS[entry.key].name, versions, cell(entry.case), cell(entry.field), entry.reason)
        yield f"| {' | '.join(cells)} |\n"


def cell(pattern: str) -> str:
    return ", ".join(f"`{each}`" for each in pattern.split("|") if each) or "the answer"
