"""The verification of a run: the independent checker, and the product's audit beside it.

Owns      the order of both, and whether they agree: the same offsets of the same buckets.
Promises  neither of them sees the result of the other.
"""

from __future__ import annotations

import json
import subprocess
import sys
from enum import IntEnum

from demo.audit import Audit
from demo.comparison import Comparison
from demo.directory import DemoDirectory
from demo.places import differences_of_drill, disagreements
from demo.processes import PACKAGE_PARENT
from demo.recording import AuditResult, Recording, load_comparisons
from demo.scenario import Scenario
from demo.terminal import Terminal

LAKE = 1  # among the comparisons


class Outcome(IntEnum):
    """Exit codes."""

    MATCHES = 0
    DIFFERS = 1  # and both say so
    FAILED = 2
    DISAGREES = 3  # one of them has found what the other has not


class CheckerFailed(RuntimeError):
    """The checker could not compare."""


def verify(
    recording: Recording, directory: DemoDirectory, bootstrap_servers: str, terminal: Terminal
) -> Outcome:
    """Run both, print what they found, and add it to the recording."""
    terminal.say("a separate process reads everything back and compares")
    text, recording.comparisons = check(recording.scenario, directory, bootstrap_servers)
    terminal.say("ottla audit counts the topic and the lake by itself")
    recording.audit = audit(directory, bootstrap_servers, recording.comparisons[LAKE])
    terminal.plain(f"\n{text}\n\n{audit_text(recording.audit)}\n")
    return outcome(recording)


def outcome(recording: Recording) -> Outcome:
    assert recording.audit is not None
    if recording.audit.disagreements:
        return Outcome.DISAGREES
    return Outcome.MATCHES if recording.is_matching else Outcome.DIFFERS


def check(
    scenario: Scenario, directory: DemoDirectory, bootstrap_servers: str
) -> tuple[str, list[Comparison]]:
    """The checker's inputs are the scenario and where to read."""
    command = [sys.executable, "-m", "demo.checker", *scenario.arguments()]
    command += ["--bootstrap", bootstrap_servers, "--lake", str(directory.lake)]
    directory.result.unlink(missing_ok=True)
    done = subprocess.run(
        [*command, "--result", str(directory.result)],
        cwd=PACKAGE_PARENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise CheckerFailed(done.stdout + done.stderr)
    return done.stdout.rstrip(), load_comparisons(json.loads(directory.result.read_text()))


def audit(directory: DemoDirectory, bootstrap_servers: str, checked: Comparison) -> AuditResult:
    from ottla.cli.commands.audit.drill import text_of

    commands = Audit(directory, bootstrap_servers)
    commands.run()
    verified = commands.verify()
    drilled = None if verified["complete"] else commands.drill()
    found = [] if drilled is None else differences_of_drill(drilled)
    return AuditResult(
        is_complete=verified["complete"],
        buckets=verified["buckets"],
        records=verified["records"],
        faults=len(verified["faults"]),
        details="" if drilled is None else text_of(drilled),
        repair=None if drilled is None else drilled["repair"],
        disagreements=disagreements(checked.differences, found)
        + different_verdicts(checked, is_complete=verified["complete"]),
    )


def different_verdicts(checked: Comparison, *, is_complete: bool) -> list[str]:
    if checked.is_matching == is_complete:
        return []
    words = {True: "complete", False: "at fault"}
    return [
        f"the lake is {words[checked.is_matching]} for the checker, and {words[is_complete]} for "
        "the audit"
    ]


def audit_text(result: AuditResult) -> str:
    verdict = "complete" if result.is_complete else f"{result.faults:,} at fault"
    lines = [f"ottla audit: {result.records:,} records of {result.buckets:,} buckets: {verdict}"]
    lines += [f"    {line}" for line in result.details.splitlines()]
    lines += result.disagreements or ["checker and audit agree"]
    return "\n".join(lines)
