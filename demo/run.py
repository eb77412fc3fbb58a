"""One run from beginning to end: the story, the check, the page, and what is said at the end."""

from __future__ import annotations

import signal
import sys
import time
from dataclasses import dataclass

from demo.cast import Cast
from demo.page import draw_page
from demo.place import Place
from demo.recording import Recording, save
from demo.scenario import ALERTS_TOPIC, LATEST_TOPIC, Scenario
from demo.story import Story
from demo.terminal import Terminal
from demo.watch import StoryFailed

LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Wishes:
    sabotage: str | None = None  # what to damage before the check
    stays: bool = False  # broker and Spark keep running until Ctrl-C


def run(scenario: Scenario, place: Place, wishes: Wishes) -> int:
    """The exit code: 0 if the books balance, 1 if not, 2 if it never came to that."""
    terminal = Terminal(sys.stdout)
    for number in (signal.SIGINT, signal.SIGTERM):  # also where a shell ignores the first
        signal.signal(number, interrupt)
    place.prepare()
    try:
        with Cast(scenario, place) as cast:
            return play(Story(scenario, place, cast, terminal), wishes)
    except StoryFailed as error:
        terminal.say(f"the story cannot go on: {error}")
        terminal.plain(f"logs: {place.logs}")
        return 2
    except KeyboardInterrupt:
        terminal.say("interrupted: every process has been ended")
        return 130


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def play(story: Story, wishes: Wishes) -> int:
    story.tell()
    if not wishes.stays:
        story.stop_application()
    if wishes.sabotage:
        story.sabotage_lake()
    code = story.check()
    recording = story.finish_recording()
    save(recording, story.place.recording)
    story.place.page.write_text(draw_page(recording))
    story.terminal.plain(conclusion(recording, story.place))
    if wishes.stays:
        story.terminal.plain(invitation(story))
        stay(story)
    return code


def conclusion(recording: Recording, place: Place) -> str:
    """The recovery times, the verdict and where to read on."""
    lines = [f"{'':<22}{'ready again':>12}{'first new':>12}"]
    for kill in recording.kills:
        what = f"{kill.what} killed with -9"
        lines.append(f"{what:<22}{kill.ready_s:>10.1f} s{kill.recovery_s:>10.1f} s")
    return "\n".join([*lines, "", verdict(recording), f"page: {place.page.as_uri()}"])


def verdict(recording: Recording) -> str:
    lost = sum(account.lost for account in recording.accounts)
    duplicated = sum(account.duplicated for account in recording.accounts)
    words = "The books balance" if recording.is_balanced else "THE BOOKS DO NOT BALANCE"
    return f"{words}: lost {lost:,}, duplicated {duplicated:,}."


def invitation(story: Story) -> str:
    """What to do with the pieces that still run."""
    return f"""
Broker and Spark keep running until Ctrl-C. In another window:

  export OTTLA_BOOTSTRAP={story.cast.broker.bootstrap_servers}
  ottla status
  ottla groups describe fleet-lake
  ottla consume {ALERTS_TOPIC} --exit | tail -5
  ottla consume {LATEST_TOPIC} --key truck-007 --exit
"""


def stay(story: Story) -> None:
    try:
        while True:
            story.watch.look()
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        story.terminal.say("ending broker and Spark")
