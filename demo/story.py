"""The story: who is started, who is killed and when, and when it is over.

Owns      the order of events, and what is said and recorded about them.
Promises  the driver dies in the middle of a batch, the broker under load.
Leaves    the processes to `cast.py`, the judgement to the checker, a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

from demo.cast import Cast
from demo.checkpoints import Stand, commit_times
from demo.lake import listed_files
from demo.place import Place
from demo.processes import PACKAGE_PARENT
from demo.recording import Kill, Recording, load_accounts
from demo.scenario import BROKER_KILL_SHARE, DRIVER_KILL_SHARE, QUERIES, Scenario
from demo.terminal import Terminal
from demo.topics import create_topics
from demo.watch import StoryFailed, Watch

PATIENCE_S = 300.0  # for Spark to start, or to come back, on a busy machine too
MID_BATCH_S = 8.0  # how long to wait for the moment in which all queries are in a batch


class Story:
    def __init__(self, scenario: Scenario, place: Place, cast: Cast, terminal: Terminal) -> None:
        self.scenario = scenario
        self.place = place
        self.cast = cast
        self.terminal = terminal
        self.recording = Recording(scenario)
        self.watch = Watch(self.recording, place, cast, terminal)

    # The chapters

    def tell(self) -> None:
        """Up to the moment when everything must have arrived everywhere."""
        self.start()
        self.kill_driver()
        self.kill_broker()
        self.wait_until_drained()

    def start(self) -> None:
        self.cast.start_broker()
        create_topics(self.cast.broker.bootstrap_servers)
        self.terminal.say(f"a broker is ready on {self.cast.broker.bootstrap_servers}")
        self.cast.start_application()
        self.terminal.say("the Spark application starts")
        self.watch.until(self.cast.application_is_ready, "Spark is ready", PATIENCE_S)
        self.terminal.say("Spark is ready: lake, latest positions and alerts wait for events")
        self.cast.start_generator()
        it = self.scenario
        self.terminal.say(
            f"{it.trucks} trucks report, {it.rate:,} events/s for {it.seconds} s: "
            f"a shift of twelve hours (seed {it.seed})"
        )
        self.watch.until(
            lambda: all(stand.events for _, stand in self.watch.stands()),
            "the first batch of every query",
            PATIENCE_S,
        )
        self.cast.open_gate()
        self.terminal.say("each query has finished its first batch")

    def kill_driver(self) -> None:
        self._wait_for_share(DRIVER_KILL_SHARE)
        self._wait_for_mid_batch()
        before = dict(self.watch.stands())
        jvm = self.cast.kill_driver()
        killed_s = self.cast.now_s()
        self.terminal.say(f"kill -9 of the driver JVM ({jvm}): {under_way(before)}")
        self.cast.start_application()
        self.watch.until(self.cast.application_is_ready, "the driver is back", PATIENCE_S)
        ready_s = self.cast.now_s() - killed_s
        back_s = self.watch.until_back(
            killed_s,
            lambda name, stand: stand.batch > before[name].batch,
            "the first batches after the driver was killed",
            PATIENCE_S,
        )
        self.cast.open_gate()
        self._note(Kill("driver", killed_s, ready_s, back_s))

    def kill_broker(self) -> None:
        self._wait_for_share(BROKER_KILL_SHARE)
        self._wait_for_mid_batch()
        before = dict(self.watch.stands())
        pid = self.cast.kill_broker()
        killed_s = self.cast.now_s()
        self.terminal.say(f"kill -9 of the broker ({pid}): {under_way(before)}")
        self.cast.start_broker()
        ready_s = self.cast.now_s() - killed_s
        # An event from after the kill, if there are any left to come. Asked for only now: what was
        # acknowledged just before the kill is noted a little later.
        wanted = min(self.watch.progress().acknowledged + 1, self.scenario.events)
        self.watch.until(
            lambda: self.watch.progress().acknowledged >= wanted,
            "an event after the broker was killed",
            PATIENCE_S,
        )
        events_s = self.cast.now_s() - killed_s
        back_s = self.watch.until_back(
            killed_s,
            lambda _, stand: stand.events >= wanted,
            "the first batches with events from after the broker was killed",
            PATIENCE_S,
        )
        self._note(Kill("broker", killed_s, ready_s, {"events": events_s, **back_s}))

    def wait_until_drained(self) -> None:
        patience_s = self.scenario.seconds + PATIENCE_S
        self.watch.until(lambda: self.watch.progress().is_done, "all events are sent", patience_s)
        self.cast.generator_is_done()
        self.terminal.say(f"all {self.scenario.events:,} events are sent and acknowledged")
        self.watch.until(self._is_drained, "Spark has caught up", PATIENCE_S)
        self.watch.sample()
        self.terminal.say("Spark has caught up, and the last windows are out")
        self.recording.failures = self.cast.query_failures()
        for failure in self.recording.failures:
            self.terminal.say(f"a query failed meanwhile and was started again: {failure}")

    def stop_application(self) -> None:
        if code := self.cast.end_application():
            raise StoryFailed(f"the Spark application ended with {code}: see {self.place.logs}")

    def sabotage_lake(self) -> None:
        # The largest: a batch without events leaves files without rows, and they lose nothing.
        victim = max(listed_files(self.place.lake), key=lambda path: path.stat().st_size)
        victim.unlink()
        self.recording.sabotage = f"removed {victim.relative_to(self.place.root)}"
        self.terminal.say(f"sabotage: {self.recording.sabotage}")

    def check(self) -> int:
        """By a process that knows the scenario and where to read. Its exit code."""
        self.terminal.say("a separate process reads everything back and compares")
        command = [sys.executable, "-m", "demo.checker", *self.scenario.arguments()]
        command += ["--bootstrap", self.cast.broker.bootstrap_servers]
        command += ["--lake", str(self.place.lake), "--result", str(self.place.result)]
        done = subprocess.run(
            command, cwd=PACKAGE_PARENT, stdout=subprocess.PIPE, text=True, check=False
        )
        self.terminal.plain(f"\n{done.stdout}")
        if self.place.result.exists():
            self.recording.accounts = load_accounts(json.loads(self.place.result.read_text()))
        return done.returncode

    def finish_recording(self) -> Recording:
        self.recording.spans = self.cast.lives()
        for query in QUERIES:
            times = commit_times(self.place.checkpoints / query)
            self.recording.batches[query] = [each - self.cast.started_s for each in times]
        return self.recording

    # What the chapters share

    def _wait_for_share(self, share: float) -> None:
        wanted = int(self.scenario.events * share)
        patience_s = self.scenario.seconds + PATIENCE_S
        what = f"{share:.0%} of the events are sent"
        self.watch.until(lambda: self.watch.progress().sent >= wanted, what, patience_s)

    def _wait_for_mid_batch(self) -> None:
        """All queries in a batch at once; if that moment does not come, one of them will do.

        On a slow machine everything may have arrived before it is time: then there is none.
        """
        deadline_s = time.monotonic() + MID_BATCH_S

        def is_mid_batch() -> bool:
            in_batch = [stand.is_in_batch for _, stand in self.watch.stands()]
            is_late = time.monotonic() > deadline_s
            return all(in_batch) or (is_late and (any(in_batch) or self._is_drained()))

        self.watch.until(is_mid_batch, "a batch is under way", PATIENCE_S)

    def _is_drained(self) -> bool:
        stands = dict(self.watch.stands())
        has_all = all(stand.events == self.scenario.events for stand in stands.values())
        return has_all and stands["alerts"].watermark_ms >= self.scenario.final_watermark_ms

    def _note(self, kill: Kill) -> None:
        self.recording.kills.append(kill)
        each = ", ".join(f"{name} {back_s:.1f} s" for name, back_s in kill.first_s.items())
        self.terminal.say(f"{kill.what} ready again after {kill.ready_s:.1f} s; first new: {each}")


def under_way(stands: dict[str, Stand]) -> str:
    in_batch = [(name, stand) for name, stand in stands.items() if stand.is_in_batch]
    words = [f"{name} batch {stand.batch + 1}" for name, stand in in_batch]
    return f"{', '.join(words)} under way" if words else "no batch under way"
