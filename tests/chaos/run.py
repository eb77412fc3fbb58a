"""One run: a cluster, clients, faults; then healing, reading all, and checking.

Promises  whatever fails is a problem in the result, with the rest still checked. The history, the
          logs and the data of a run with problems are kept.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.brokers_after import log_problems, replica_findings
from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Finding
from tests.chaos.checker.check import Verdict, check
from tests.chaos.checker.copies import copy_findings
from tests.chaos.checker.groups import group_skips
from tests.chaos.checker.history import History
from tests.chaos.checker.timing import longest_open_s
from tests.chaos.clients.final_reader import FinalReader
from tests.chaos.clients.values import source_of
from tests.chaos.clients.watcher import Watcher
from tests.chaos.cluster.cluster import ChaosCluster
from tests.chaos.cluster.topics import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    broken,
    create_topic,
    ends,
    wait_until_whole,
)
from tests.chaos.faults.context import Event, FaultContext
from tests.chaos.faults.kinds import draws
from tests.chaos.recording import read_history, read_notes, undelivered
from tests.chaos.workload import COPIERS, GROUPS, TOPICS, Workload

START_S = 180.0


@dataclass(frozen=True)
class Plan:
    seed: int
    kinds: list[str]
    seconds: float
    brokers: int = 3
    replication: int = 3
    rate: float = 300.0
    batch_max: int = 100
    hold_s: tuple[float, float] = (2.0, 12.0)
    quiet_s: tuple[float, float] = (0.5, 3.0)
    faults_min: int = 0  # continues after `seconds` until there were so many
    acknowledged_min: int = 0
    dropped_min: int = 0  # answers to clients
    copied_min: int = 0  # records that copiers have committed
    rebalances_min: int = 0
    kinds_min: Mapping[str, int] = field(default_factory=dict)  # faults of some kinds
    members: int = 2  # of the group on librdkafka
    copiers: int = 2
    seconds_max: float = 3600.0
    recovery_s: float = 60.0  # until all replicas are in sync; machines may be busy
    gap_s_max: float = float("inf")  # without acknowledgements, in a partition of a producer
    open_s_max: float = float("inf")  # that a last stable offset stays behind the high watermark
    drain_s: float = 120.0
    plant: str = ""  # the bug to be found


@dataclass
class Outcome:
    plan: Plan
    events: list[Event] = field(default_factory=list)
    recoveries_s: list[float] = field(default_factory=list)
    problems: dict[str, list[str]] = field(default_factory=dict)  # by what was checked
    verdict: Verdict = field(default_factory=lambda: check(History(())))
    seconds: float = 0.0
    dropped: int = 0  # answers to clients
    hung: list[str] = field(default_factory=list)  # clients, by a fault of their library
    fenced: list[str] = field(default_factory=list)  # static members, by themselves

    def require(self, name: str, problems: list[str]) -> None:
        self.problems.setdefault(name, []).extend(problems)

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """A failure is a problem of this name, and the run continues."""
        self.require(name, [])
        try:
            yield
        except Exception as error:
            self.require(name, [f"{type(error).__name__}: {error}"])

    def producer_gaps_s(self) -> dict[str, float]:
        """Of partitions that no copiers write: one that hangs is no gap of a broker."""
        gaps = self.verdict.longest_gaps_s.items()
        return {key: gap_s for key, gap_s in gaps if not key.startswith("copies-")}

    @property
    def was_not_run(self) -> bool:
        """Clients did not start: nothing was tested, and nothing is known of the brokers."""
        return bool(self.problems.get("start")) and not self.verdict.illegal

    @property
    def has_failed(self) -> bool:
        return any(self.problems.values()) or bool(self.verdict.illegal)


class Run:
    def __init__(self, plan: Plan, directory: Path, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._rng = random.Random(plan.seed)
        self._directory = directory
        self._say = say
        self._findings: list[Finding] = []  # outside the history
        # How far groups have come in the end, by partition
        self._committed: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self.outcome = Outcome(plan)

    def run(self) -> Outcome:
        plan = self._plan
        began_s = time.monotonic()
        with ChaosCluster(
            plan.brokers, plan.replication, plant=plan.plant, has_steps="step" in plan.kinds
        ) as cluster:
            for topic, partitions in TOPICS.items():
                create_topic(cluster, topic, partitions)
            self._cluster = cluster
            self._workload = Workload(
                cluster.bootstrap_servers,
                self._directory,
                self._rng,
                rate=plan.rate,
                batch_max=plan.batch_max,
                members=plan.members,
                copiers=plan.copiers,
            )
            self._watcher = Watcher(cluster, self._directory, list(TOPICS), [COPIERS, *GROUPS])
            try:
                self._work()
            finally:
                self._watcher.close()
                self._workload.close()
                self._check()
                if self.outcome.has_failed:
                    cluster.keep(self._directory / "cluster")
        self.outcome.seconds = time.monotonic() - began_s
        return self.outcome

    def _work(self) -> None:
        outcome = self.outcome
        with outcome.attempt("start"):
            self._workload.start(START_S)
        self._watcher.start()
        try:
            if not outcome.problems["start"]:
                self._break_things()
        finally:
            self._watcher.stop()
        with outcome.attempt("recovery"):
            self._cluster.restore()
            self._wait_until_whole()
        with outcome.attempt("completion"):
            self._drain()
        self._note_committed()
        outcome.require("clients", self._workload.failures)
        outcome.require("assignments", self._watcher.shared)
        outcome.hung, outcome.fenced = self._workload.hung, self._workload.fenced
        with outcome.attempt("last stable offsets"):
            self._compare_ends()
        with outcome.attempt("replicas"):
            self._findings.extend(replica_findings(self._cluster))
        outcome.require("broker logs", log_problems(self._cluster, self._plan.kinds))

    # Faults

    def _break_things(self) -> None:
        plan, outcome = self._plan, self.outcome
        context = FaultContext(
            self._cluster,
            self._workload.clients,
            self._rng,
            plan.hold_s,
            tuple(TOPICS),
            outcome.events,
        )
        began_s = time.monotonic()
        for kind, fault in draws(plan.kinds, self._rng):
            if self._is_enough(time.monotonic() - began_s):
                return
            start_s = time.monotonic()
            with outcome.attempt("faults"):
                text = fault(context)
                event = Event(kind, text, start_s, time.monotonic())
                outcome.events.append(event)
                self._say(str(event))
            if outcome.problems["faults"]:
                return
            with outcome.attempt("recovery"):
                outcome.recoveries_s.append(self._wait_until_whole())
            if outcome.problems["recovery"]:
                return
            self._workload.revive()
            time.sleep(self._rng.uniform(*plan.quiet_s))

    def _is_enough(self, seconds: float) -> bool:
        plan = self._plan
        if seconds < plan.seconds:
            return False
        lacking = self._lacking()
        if lacking and seconds > plan.seconds_max:
            self.outcome.require("amount", lacking)
            return True
        return not lacking

    def _lacking(self) -> list[str]:
        """What the run does not have enough of yet."""
        plan, outcome = self._plan, self.outcome
        outcome.dropped = self._cluster.network.dropped()
        found = [
            ("faults", len(outcome.events), plan.faults_min),
            ("dropped answers", outcome.dropped, plan.dropped_min),
        ]
        kinds = Counter(each.kind for each in outcome.events)
        found += [(f"of {kind}", kinds[kind], least) for kind, least in plan.kinds_min.items()]
        if plan.copied_min:
            copied = sum(self._watcher.committed(COPIERS).values())
            found.append(("copies", copied, plan.copied_min))
        if plan.rebalances_min:
            found.append(("rebalances", self._workload.rebalances(), plan.rebalances_min))
        if plan.acknowledged_min:
            found.append(("records", self._workload.acknowledged(), plan.acknowledged_min))
        return [f"{count} {name}, not {least}" for name, count, least in found if count < least]

    def _wait_until_whole(self) -> float:
        try:
            return wait_until_whole(self._cluster, self._plan.recovery_s)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {broken(self._cluster)}") from error

    # After the faults

    def _drain(self) -> None:
        """Let clients finish, in the order in which records flow."""
        workload = self._workload
        workload.stop(workload.writers, self._plan.drain_s)
        written = {name: TOPICS[name] for name in ("records", "mixed")}
        offsets = self._read_all("final-1", written)
        copied = {key: offset for key, offset in offsets.items() if key.startswith("records-")}
        self._require_groups({COPIERS: copied})
        workload.stop(workload.copiers, self._plan.drain_s)
        offsets = self._read_all("final-2", TOPICS)
        self._require_groups(dict.fromkeys(GROUPS, offsets))
        workload.stop(workload.readers, self._plan.drain_s)

    def _note_committed(self) -> None:
        for group in (COPIERS, *GROUPS):
            self._committed[group] = self._watcher.committed(group)

    def _read_all(self, name: str, topics: dict[str, int]) -> dict[str, int]:
        reader = FinalReader(self._cluster.bootstrap_servers, self._directory, name)
        self.outcome.require("completion", reader.read(topics, self._plan.drain_s))
        return reader.next_offsets

    def _require_groups(self, wanted: dict[str, dict[str, int]]) -> None:
        self.outcome.require(
            "completion",
            self._watcher.wait_for_groups(wanted, self._plan.drain_s, self._workload.revive),
        )

    def _compare_ends(self) -> None:
        high = ends(self._cluster, READ_UNCOMMITTED, TOPICS)
        stable = ends(self._cluster, READ_COMMITTED, TOPICS)
        problems = [
            f"{key}: last stable offset {stable[key]}, high watermark {high[key]}"
            for key in high
            if stable[key] != high[key]
        ]
        self.outcome.require("last stable offsets", problems)

    def _check(self) -> None:
        history = read_history(self._directory.glob("*.jsonl"))
        analysis = Analysis(history)
        twice = [f"{value} was sent twice to {key}" for key, value in analysis.sent_twice]
        self.outcome.require("clients", twice)
        notes = read_notes(self._directory.glob("*.jsonl"))
        self.outcome.require("deliveries", undelivered(notes))
        open_too_long = [
            f"{key}: {seconds:.1f} s"
            for key, seconds in longest_open_s(history.observations).items()
            if seconds > self._plan.open_s_max
        ]
        self.outcome.require("open transactions", open_too_long)
        for source in (f"records-{at}" for at in range(TOPICS["records"])):
            copy = source.replace("records", "copies")
            end = self._committed[COPIERS].get(source, 0)
            self._findings.extend(copy_findings(analysis, source, copy, source_of, end))
        for group in GROUPS:
            members = self._workload.members(group)
            self._findings.extend(group_skips(analysis, group, members, self._committed[group]))
        self.outcome.verdict = check(history, self._findings)
        gaps_s = self.outcome.producer_gaps_s().items()
        too_long = [f"{key}: {each:.1f} s" for key, each in gaps_s if each > self._plan.gap_s_max]
        self.outcome.require("gaps", too_long)
