"""Runs scripts against a broker."""

from __future__ import annotations

import traceback
from collections.abc import Iterable

from tests.compatibility.differential.scripting import Run
from tests.compatibility.differential.talk import Answers, Talk

FAILED = "the script could not go on"


def run_all(address: str, runs: Iterable[Run]) -> dict[Run, Answers]:
    return {run: run_one(address, run) for run in runs}


def run_one(address: str, run: Run) -> Answers:
    """What was answered. An answer that a script cannot go on from is the last one it gets."""
    talk = Talk(address, run)
    try:
        run.script.talk(talk)
    except Exception:
        last = next(reversed(talk.answers), None)
        talk.answers[FAILED] = f"after {last!r}: {traceback.format_exc()}"
    finally:
        talk.close()
    return talk.answers
