from __future__ import annotations

import signal
import subprocess
import sys
import time

PROGRAM = """
import asyncio, time
from ottla.base.scheduling.loop_watchdog import watch_event_loop

async def main():
    watching = asyncio.create_task(watch_event_loop(0.5))
    await asyncio.sleep(1.0)
    print("alive", flush=True)
    {then}
    print("ended", flush=True)

def stand_still():
    time.sleep(60)

asyncio.run(main())
"""


def run(then: str) -> subprocess.CompletedProcess[str]:
    program = PROGRAM.replace("{then}", then)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def start(then: str) -> subprocess.Popen[str]:
    program = PROGRAM.replace("{then}", then)
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def test_a_blocked_event_loop_ends_the_process_and_shows_where() -> None:
    done = run("stand_still()")
    assert done.returncode == 1
    assert done.stdout == "alive\n"
    assert "the event loop was blocked for 0.5 s: this process ends. Threads:\n" in done.stderr
    assert "in stand_still" in done.stderr


def test_a_loop_that_runs_is_left_alone_and_the_watchdog_ends_with_its_task() -> None:
    done = run("watching.cancel(); await asyncio.sleep(0); time.sleep(1)")
    assert done.returncode == 0
    assert done.stdout == "alive\nended\n"


def test_a_process_that_was_stopped_continues() -> None:
    process = start("await asyncio.sleep(1)")
    assert process.stdout is not None
    assert process.stdout.readline() == "alive\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.5)  # longer than the watchdog's time
    process.send_signal(signal.SIGCONT)
    assert process.communicate()[0] == "ended\n"
    assert process.returncode == 0
