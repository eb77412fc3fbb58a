"""One run: the scenario, the verification, the report, and the summary."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from demo.audit import CommandEnded
from demo.directory import DemoDirectory
from demo.orchestrator import Orchestrator
from demo.page import draw_page
from demo.recording import Recording, load, save
from demo.repair import repair
from demo.scenario import ALERTS_TOPIC, LATEST_TOPIC, Scenario
from demo.services import Services
from demo.terminal import Terminal
from demo.verification import CheckerFailed, Outcome
from demo.watch import DemoFailed

LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class RunOptions:
    sabotage: str | None = None  # what to damage before the verification
    stays: bool = False  # brokers and Spark keep running until Ctrl-C
    brokers: int = 3


def run(scenario: Scenario, directory: DemoDirectory, options: RunOptions) -> int:
    """The exit code."""

    def story(terminal: Terminal) -> int:
        directory.prepare()
        with Services(scenario, directory, options.brokers) as services:
            return play(Orchestrator(scenario, directory, services, terminal), options)

    return run_story(story, directory)


def repair_last_run(directory: DemoDirectory) -> int:
    def story(terminal: Terminal) -> int:
        code = repair(directory, terminal)
        terminal.plain(conclusion(load(directory.recording), directory))
        return code

    return run_story(story, directory)


def run_story(story: Callable[[Terminal], int], directory: DemoDirectory) -> int:
    """What ends a story early becomes a message and an exit code."""
    terminal = Terminal(sys.stdout)
    for number in (signal.SIGINT, signal.SIGTERM):  # also if a shell ignores SIGINT
        signal.signal(number, interrupt)
    try:
        return story(terminal)
    except (DemoFailed, CheckerFailed, CommandEnded) as error:
        terminal.say(f"the demo failed: {error}")
        terminal.plain(f"logs: {directory.logs}")
        return Outcome.FAILED
    except KeyboardInterrupt:
        terminal.say("interrupted: all processes were stopped")
        return 130


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def play(orchestrator: Orchestrator, options: RunOptions) -> int:
    orchestrator.run_scenario()
    if not options.stays:
        orchestrator.stop_application()
    if options.sabotage:
        orchestrator.sabotage(options.sabotage)
    code = orchestrator.verify()
    recording = orchestrator.finish_recording()
    save(recording, orchestrator.directory.recording)
    orchestrator.directory.page.write_text(draw_page(recording))
    orchestrator.terminal.plain(conclusion(recording, orchestrator.directory))
    if options.stays:
        orchestrator.terminal.plain(instructions(orchestrator))
        stay(orchestrator)
    return code


def conclusion(recording: Recording, directory: DemoDirectory) -> str:
    """The recovery times, the result and the location of the report."""
    lines = [f"{'':<22}{'ready again':>12}{'first new':>12}"]
    for kill in recording.kills:
        what = f"{kill.what} killed with -9"
        lines.append(f"{what:<22}{kill.ready_s:>10.1f} s{kill.recovery_s:>10.1f} s")
    pages = [f"page:  {directory.page.as_uri()}", f"audit: {directory.audit_page.as_uri()}"]
    if recording.audit is not None and recording.audit.repair:
        pages.append("repair the lake with: make demo REPAIR=1")
    return "\n".join([*lines, "", verdict(recording), *pages])


def verdict(recording: Recording) -> str:
    lost = sum(comparison.lost for comparison in recording.comparisons)
    duplicated = sum(comparison.duplicated for comparison in recording.comparisons)
    words = "Everything matches" if recording.is_matching else "THERE ARE DIFFERENCES"
    return f"{words}: lost {lost:,}, duplicated {duplicated:,}."


def instructions(orchestrator: Orchestrator) -> str:
    """Commands to try while broker and Spark are running."""
    return f"""
Brokers and Spark keep running until Ctrl-C. In another window:

  export OTTLA_BOOTSTRAP={orchestrator.services.bootstrap_servers}
  ottla status
  ottla pipeline status {orchestrator.directory.pipelines}
  ottla groups describe fleet-lake
  ottla consume {ALERTS_TOPIC} --exit | tail -5
  ottla consume {LATEST_TOPIC} --key truck-007 --exit
"""


def stay(orchestrator: Orchestrator) -> None:
    try:
        while True:
            orchestrator.watch.look()
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        orchestrator.terminal.say("stopping brokers and Spark")
