"""A client that only watches: high watermarks, last stable offsets, epochs, committed offsets, and
which members of groups have which partitions.

It behaves as a client does: it never goes back to a leader of an older epoch, and asks for another
coordinator only when the one it knows fails.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.chaos.checker.assignments import shared_partitions
from tests.chaos.checker.history import Quantity
from tests.chaos.cluster.asking import ask
from tests.chaos.cluster.cluster import ChaosCluster
from tests.chaos.cluster.topics import (
    READ_COMMITTED,
    READ_UNCOMMITTED,
    PartitionState,
    end_of,
    states,
)
from tests.chaos.recording import Recorder

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequest, OffsetFetchRequestGroup

INTERVAL_S = 0.5
TIMEOUT_S = 2.0
GROUP = 0
STABLE = "Stable"
FIND_COORDINATOR_VERSION = 4
OFFSET_FETCH_VERSION = 8


class Watcher:
    def __init__(
        self, cluster: ChaosCluster, directory: Path, topics: Sequence[str], groups: Sequence[str]
    ) -> None:
        self._cluster = cluster
        self._recorder = Recorder(directory / "watcher.jsonl")
        self._topics = topics
        self._groups = groups
        self._rng = random.Random(0)
        self._known: dict[str, PartitionState] = {}
        self._coordinators: dict[str, int] = {}
        self.shared: list[str] = []  # partitions that several members of a group had
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="watcher")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def close(self) -> None:
        self._recorder.close()

    def _run(self) -> None:
        while not self._stopping.wait(INTERVAL_S):
            self._refresh()
            for state in self._known.values():
                self._watch_partition(state)
            for group in self._groups:
                self.committed(group)
                self._watch_assignments(group)

    def _refresh(self) -> None:
        running = self._cluster.running()
        if not running:
            return
        try:
            found = states(self._cluster, self._rng.choice(running), *self._topics)
        except OSError:
            return
        for state in found:
            known = self._known.get(state.key)
            if state.leader >= 0 and (known is None or known.epoch <= state.epoch):
                self._known[state.key] = state

    def _watch_partition(self, state: PartitionState) -> None:
        for isolation, quantity in (
            (READ_UNCOMMITTED, Quantity.HIGH_WATERMARK),
            (READ_COMMITTED, Quantity.LAST_STABLE_OFFSET),
        ):
            try:
                end = end_of(self._cluster, state, isolation, TIMEOUT_S)
            except OSError:
                return
            if isinstance(end, ErrorCode):
                return
            self._recorder.observe(quantity, state.key, end.offset)
            if end.epoch >= 0:
                self._recorder.observe(Quantity.LEADER_EPOCH, state.key, end.epoch)

    def committed(self, group: str) -> dict[str, int]:
        """The positions of a group; empty if they are not known."""
        try:
            coordinator = self._coordinators.get(group)
            if coordinator is None:
                coordinator = self._find_coordinator(group)
            request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=None)])
            address = self._cluster.address(coordinator)
            (answer,) = ask(address, request, OFFSET_FETCH_VERSION, TIMEOUT_S).groups
        except (OSError, LookupError):
            self._coordinators.pop(group, None)
            return {}
        if answer.error_code != ErrorCode.NONE:
            self._coordinators.pop(group, None)
            return {}
        return self._note(group, answer)

    def _watch_assignments(self, group: str) -> None:
        """While the group is stable, what its members have is of one generation."""
        coordinator = self._coordinators.get(group)
        if coordinator is None:
            return
        try:
            request = DescribeGroupsRequest([group])
            (answer,) = ask(self._cluster.address(coordinator), request, timeout_s=TIMEOUT_S).groups
        except OSError:
            return
        if answer.error_code == ErrorCode.NONE and answer.group_state == STABLE:
            members = {each.member_id: bytes(each.member_assignment) for each in answer.members}
            self.shared += [f"{group}: {each}" for each in shared_partitions(members)]

    def _note(self, group: str, answer: Any) -> dict[str, int]:
        found = {
            f"{topic.name}-{each.partition_index}": each.committed_offset
            for topic in answer.topics
            for each in topic.partitions
            if each.error_code == ErrorCode.NONE and each.committed_offset >= 0
        }
        for key, offset in found.items():
            self._recorder.observe(Quantity.COMMITTED_OFFSET, f"{group} {key}", offset)
        return found

    def _find_coordinator(self, group: str) -> int:
        asked = self._rng.choice(self._cluster.running())
        request = FindCoordinatorRequest(key_type=GROUP, coordinator_keys=[group])
        address = self._cluster.address(asked)
        (answer,) = ask(address, request, FIND_COORDINATOR_VERSION, TIMEOUT_S).coordinators
        if answer.error_code != ErrorCode.NONE:
            raise LookupError(answer.error_code)
        self._coordinators[group] = answer.node_id
        found: int = answer.node_id
        return found

    def wait_for_groups(
        self, wanted: dict[str, dict[str, int]], patience_s: float, meanwhile: Callable[[], None]
    ) -> list[str]:
        """Until the groups have committed these offsets; what is missing. Call it after `stop`."""
        end_s = time.monotonic() + patience_s
        while True:
            missing = [
                f"{group} is at {found.get(key)} of {offset} in {key}"
                for group, offsets in wanted.items()
                for found in [self.committed(group)]
                for key, offset in offsets.items()
                if found.get(key, -1) < offset
            ]
            if not missing or time.monotonic() > end_s:
                return missing
            meanwhile()
            time.sleep(INTERVAL_S)
