"""All answers of a broker beside the recorded ones, and what that says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.compatibility.differential.comparing import Difference, compare
from tests.compatibility.differential.recording import read_recording
from tests.compatibility.differential.scripting import Run
from tests.compatibility.differential.session import Answers

from ottla.handlers.serving.served_apis import SERVED


def served_runs(runs: Iterable[Run]) -> list[Run]:
    """Those of APIs that our broker has: what is not served is not compared."""
    return [run for run in runs if run.script.key in SERVED]


def differences(answered: Mapping[Run, Answers]) -> list[Difference]:
    recorded = {name: read_recording(name) for name in {run.script.name for run in answered}}
    return [
        difference
        for run, answers in answered.items()
        for difference in compare(run, recorded[run.script.name].get(run.version, {}), answers)
    ]
