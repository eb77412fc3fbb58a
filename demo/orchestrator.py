"""The sequence of a run: what is started and killed, and when it is complete.

Owns      the order of events, their messages and their recording.
Promises  the driver is killed in the middle of a batch; a broker under load: in a cluster the
          leader of the busiest partition.
Leaves    the processes to `services.py`, the verification to `verification.py`.
"""

from __future__ import annotations

import time

from demo.brokers import name_of
from demo.directory import DemoDirectory
from demo.recording import Kill, Recording, ReplicaSample
from demo.replicas import leader_of_busiest
from demo.sabotage import sabotage
from demo.scenario import BROKER_KILL_SHARE, DRIVER_KILL_SHARE, QUERIES, Scenario
from demo.services import Services
from demo.terminal import Terminal
from demo.topics import create_topics
from demo.verification import Outcome, verify
from demo.watch import DemoFailed, Watch
from ottla.pipelines.status.query_progress import QueryProgress, commit_times

TIMEOUT_S = 300.0  # for Spark to start or recover, also on a busy machine
NO_LEADER = -1
MID_BATCH_S = 8.0  # to wait until all queries are in a batch


class Orchestrator:
    def __init__(
        self, scenario: Scenario, directory: DemoDirectory, services: Services, terminal: Terminal
    ) -> None:
        self.scenario = scenario
        self.directory = directory
        self.services = services
        self.terminal = terminal
        self.recording = Recording(scenario, brokers=services.brokers.count)
        self.watch = Watch(self.recording, directory, services, terminal)

    # Phases

    def run_scenario(self) -> None:
        """Run until all results must have arrived."""
        self.start()
        self.kill_driver()
        if self.services.brokers.count == 1:
            self.kill_broker()
        else:
            self.kill_leader()
        self.wait_until_drained()

    def start(self) -> None:
        self.services.start_brokers()
        count, servers = self.services.brokers.count, self.services.bootstrap_servers
        create_topics(servers, replicas=min(count, 3))
        what = "a broker is" if count == 1 else f"{count} brokers and ZooKeeper are"
        self.terminal.say(f"{what} ready on {servers}")
        self.services.start_monitor()
        self.services.start_application()
        self.terminal.say(f"ottla pipeline run {self.directory.pipelines.name} starts Spark")
        self.watch.until(self.services.application_is_ready, "Spark is ready", TIMEOUT_S)
        self.terminal.say("Spark is ready: lake, latest positions and alerts wait for events")
        self.services.start_generator()
        it = self.scenario
        self.terminal.say(
            f"{it.trucks} trucks report, {it.rate:,} events/s for {it.seconds} s: "
            f"a shift of twelve hours (seed {it.seed})"
        )
        self.watch.until(
            lambda: all(progress.end_offsets for _, progress in self.watch.query_progress()),
            "the first batch of every query",
            TIMEOUT_S,
        )
        self.services.open_gate()
        self.terminal.say("each query has finished its first batch")

    def kill_driver(self) -> None:
        self._wait_for_share(DRIVER_KILL_SHARE)
        self._wait_for_mid_batch()
        before = dict(self.watch.query_progress())
        jvm = self.services.kill_driver()
        killed_s = self.services.now_s()
        self.terminal.say(f"kill -9 of the driver JVM ({jvm}): {under_way(before)}")
        self.services.start_application()
        self.watch.until(self.services.application_is_ready, "the driver is back", TIMEOUT_S)
        ready_s = self.services.now_s() - killed_s
        back_s = self.watch.until_back(
            killed_s,
            lambda name, progress: progress.batch > before[name].batch,
            "the first batches after the driver was killed",
            TIMEOUT_S,
        )
        self.services.open_gate()
        self._note(Kill("driver", killed_s, ready_s, back_s))

    def kill_broker(self) -> None:
        self._wait_for_share(BROKER_KILL_SHARE)
        self._wait_for_mid_batch()
        before = dict(self.watch.query_progress())
        pid = self.services.kill_broker("broker")
        killed_s = self.services.now_s()
        self.terminal.say(f"kill -9 of the broker ({pid}): {under_way(before)}")
        self.services.start_broker_again("broker")
        ready_s = self.services.now_s() - killed_s
        self._note(Kill("broker", killed_s, ready_s, self._until_events_flow(killed_s, "broker")))

    def kill_leader(self) -> None:
        """The leader of the busiest partition. Another replica leads; then it is started again."""
        self._wait_for_share(BROKER_KILL_SHARE)
        self._wait_for_mid_batch()
        before = dict(self.watch.query_progress())
        partition, leader = leader_of_busiest(self._replicas())
        pid = self.services.kill_broker(name_of(leader))
        killed_s = self.services.now_s()
        self.terminal.say(
            f"kill -9 of {name_of(leader)} ({pid}), the leader of partition {partition}: "
            f"{under_way(before)}"
        )
        self.watch.until(
            lambda: self._has_leaders(killed_s, besides=leader), "other leaders", TIMEOUT_S
        )
        ready_s = self._replicas().at_s - killed_s
        now = self._replicas()
        self.terminal.say(f"{name_of(now.leaders[partition])} leads partition {partition}")
        first_s = self._until_events_flow(killed_s, "leader")
        self._note(Kill("leader", killed_s, ready_s, first_s))
        self.services.start_broker_again(name_of(leader))
        self.watch.until(self._is_in_sync, "all replicas are in sync", TIMEOUT_S)
        back_s = self.services.now_s() - killed_s
        self.terminal.say(f"{name_of(leader)} is back, and in sync {back_s:.1f} s after the kill")

    def _replicas(self) -> ReplicaSample:
        monitor = self.services.monitor
        assert monitor is not None, "only in a cluster"
        self.watch.until(lambda: monitor.latest is not None, "the replicas are known", TIMEOUT_S)
        assert monitor.latest is not None
        return monitor.latest

    def _has_leaders(self, since_s: float, *, besides: int) -> bool:
        sample = self._replicas()
        leaders = set(sample.leaders.values())
        return sample.at_s > since_s and not leaders & {NO_LEADER, besides}

    def _is_in_sync(self) -> bool:
        count = min(self.services.brokers.count, 3)
        return all(len(each) == count for each in self._replicas().in_sync.values())

    def _until_events_flow(self, killed_s: float, what: str) -> dict[str, float]:
        """Until events from after the kill are in every query; seconds since the kill."""
        # An event after the kill, if there are more. Determined only now: acknowledgements just
        # before the kill are recorded a little later.
        wanted = min(self.watch.progress().acknowledged + 1, self.scenario.events)
        self.watch.until(
            lambda: self.watch.progress().acknowledged >= wanted,
            f"an event after the {what} was killed",
            TIMEOUT_S,
        )
        events_s = self.services.now_s() - killed_s
        back_s = self.watch.until_back(
            killed_s,
            lambda _, progress: progress.end_offsets >= wanted,
            f"the first batches with events from after the {what} was killed",
            TIMEOUT_S,
        )
        return {"events": events_s, **back_s}

    def wait_until_drained(self) -> None:
        timeout_s = self.scenario.seconds + TIMEOUT_S
        self.watch.until(lambda: self.watch.progress().is_done, "all events are sent", timeout_s)
        self.services.generator_is_done()
        self.terminal.say(f"all {self.scenario.events:,} events are sent and acknowledged")
        self.watch.until(self._is_drained, "Spark has caught up", TIMEOUT_S)
        self.watch.sample()
        self.terminal.say("Spark has caught up, and the last windows are out")
        self.recording.failures = self.services.query_failures()
        for failure in self.recording.failures:
            self.terminal.say(f"a query failed meanwhile and was started again: {failure}")

    def stop_application(self) -> None:
        if code := self.services.end_application():
            raise DemoFailed(f"ottla pipeline run ended with {code}: see {self.directory.logs}")

    def sabotage(self, kind: str) -> None:
        self.recording.sabotage = sabotage(kind, self.directory.lake)
        self.terminal.say(f"sabotage: {self.recording.sabotage}")

    def verify(self) -> Outcome:
        servers = self.services.bootstrap_servers
        return verify(self.recording, self.directory, servers, self.terminal)

    def finish_recording(self) -> Recording:
        self.recording.spans = self.services.uptimes()
        if self.services.monitor is not None:
            self.recording.replicas = list(self.services.monitor.samples)
        for query in QUERIES:
            times = commit_times(self.directory.state / query / "checkpoint")
            self.recording.batches[query] = [each - self.services.started_s for each in times]
        return self.recording

    # Common functions

    def _wait_for_share(self, share: float) -> None:
        wanted = int(self.scenario.events * share)
        timeout_s = self.scenario.seconds + TIMEOUT_S
        what = f"{share:.0%} of the events are sent"
        self.watch.until(lambda: self.watch.progress().sent >= wanted, what, timeout_s)

    def _wait_for_mid_batch(self) -> None:
        """Wait until all queries are in a batch; after a while, one is sufficient.

        On a slow machine everything may have arrived before: then there is none.
        """
        deadline_s = time.monotonic() + MID_BATCH_S

        def is_mid_batch() -> bool:
            in_batch = [progress.is_in_batch for _, progress in self.watch.query_progress()]
            is_late = time.monotonic() > deadline_s
            return all(in_batch) or (is_late and (any(in_batch) or self._is_drained()))

        self.watch.until(is_mid_batch, "a batch is under way", TIMEOUT_S)

    def _is_drained(self) -> bool:
        query_progress = dict(self.watch.query_progress())
        has_all = all(
            progress.end_offsets == self.scenario.events for progress in query_progress.values()
        )
        return has_all and query_progress["alerts"].watermark_ms >= self.scenario.final_watermark_ms

    def _note(self, kill: Kill) -> None:
        self.recording.kills.append(kill)
        each = ", ".join(f"{name} {back_s:.1f} s" for name, back_s in kill.first_s.items())
        ready = "other leaders" if kill.what == "leader" else f"{kill.what} ready again"
        self.terminal.say(f"{ready} after {kill.ready_s:.1f} s; first new: {each}")


def under_way(query_progress: dict[str, QueryProgress]) -> str:
    in_batch = [
        (name, progress) for name, progress in query_progress.items() if progress.is_in_batch
    ]
    words = [f"{name} batch {progress.batch + 1}" for name, progress in in_batch]
    return f"{', '.join(words)} under way" if words else "no batch under way"
