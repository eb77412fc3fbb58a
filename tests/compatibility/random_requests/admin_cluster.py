"""Steps about the cluster: brokers, disks, leaders, moves, features, the quorum."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from random import Random
from typing import Any, NamedTuple

from tests.compatibility.differential.scripts.quorum import METADATA, without_age
from tests.compatibility.random_requests.admin_model import FEATURES, AdminModel
from tests.compatibility.random_requests.admin_topics import (
    TIMEOUT_MS,
    Brokers,
    draw_brokers,
    draw_name,
    draw_version,
)

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from ottla.protocol.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from ottla.protocol.messages.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest

HERE = "here"  # the one log directory that there is
PLACES = (HERE, HERE, HERE, HERE, "/nowhere", "nowhere", "", "/")
Places = tuple[tuple[str, tuple[int, ...]], ...]


def draw_partitions(random: Random) -> tuple[int, ...]:
    chosen = random.choices((0, 0, 1, 2, 3, 9, -1), k=random.choice((1, 1, 2, 3, 0)))
    return tuple(chosen)


def draw_places(random: Random) -> Places:
    count = random.choice((1, 1, 1, 2, 0))
    return tuple((draw_name(random), draw_partitions(random)) for _ in range(count))


class Cluster(NamedTuple):
    version: int
    operations: bool
    endpoints: int
    fenced: bool

    def execute(self, model: AdminModel) -> None:
        request = DescribeClusterRequest(self.operations, self.endpoints, self.fenced)
        model.ask(request, self.version)


def draw_cluster(random: Random) -> Cluster:
    version = draw_version(random, ApiKey.DESCRIBE_CLUSTER)
    endpoints = random.choice((1, 1, 1, 2, 0, 3)) if version >= 1 else 1
    return Cluster(
        version, random.random() < 0.5, endpoints, random.random() < 0.3 and version >= 2
    )


class LogDirs(NamedTuple):
    version: int
    places: Places | None

    def execute(self, model: AdminModel) -> None:
        asked = None
        if self.places is not None:
            asked = [DescribableLogDirTopic(model.name(name), at) for name, at in self.places]

        def own(answer: Any) -> Any:
            out = copy(answer)
            out.results = [copy(each) for each in answer.results]
            for each in out.results:
                each.topics = [topic for topic in each.topics if model.is_own(topic.name)]
            return out

        model.ask(DescribeLogDirsRequest(asked), self.version, shown=own)


def draw_log_dirs(random: Random) -> LogDirs:
    version = draw_version(random, ApiKey.DESCRIBE_LOG_DIRS)
    return LogDirs(version, None if random.random() < 0.4 else draw_places(random))


class MoveDirs(NamedTuple):
    version: int
    moves: tuple[tuple[str, Places], ...]

    def execute(self, model: AdminModel) -> None:
        here = model.session.quietly(DescribeLogDirsRequest(None), 4).results[0].log_dir
        dirs = [
            AlterReplicaLogDir(
                here if path == HERE else path,
                [AlterReplicaLogDirTopic(model.name(name), at) for name, at in places],
            )
            for path, places in self.moves
        ]
        model.changes()
        model.ask(AlterReplicaLogDirsRequest(dirs), self.version)


def draw_move_dirs(random: Random) -> MoveDirs:
    version = draw_version(random, ApiKey.ALTER_REPLICA_LOG_DIRS)
    count = random.choice((1, 1, 1, 2, 0))
    moves = tuple((random.choice(PLACES), draw_places(random)) for _ in range(count))
    return MoveDirs(version, moves)


class Elect(NamedTuple):
    version: int
    type: int
    places: Places | None

    def execute(self, model: AdminModel) -> None:
        asked = None
        if self.places is not None:
            asked = [TopicPartitions(model.name(name), at) for name, at in self.places]
        model.changes()
        shown = model.only_own("replica_election_results", lambda each: each.topic)
        request = ElectLeadersRequest(self.type, asked, TIMEOUT_MS)
        model.ask(request, self.version, shown=shown if asked is None else None)


def draw_elect(random: Random) -> Elect:
    version = draw_version(random, ApiKey.ELECT_LEADERS)
    kind = random.choice((0, 0, 1, 1, 2, -1)) if version >= 1 else 0
    return Elect(version, kind, None if random.random() < 0.2 else draw_places(random))


class Reassign(NamedTuple):
    version: int
    may_change_count: bool
    topics: tuple[tuple[str, tuple[tuple[int, Brokers | None], ...]], ...]

    def execute(self, model: AdminModel) -> None:
        asked = [
            ReassignableTopic(model.name(name), [ReassignablePartition(*each) for each in moves])
            for name, moves in self.topics
        ]
        model.changes()
        request = AlterPartitionReassignmentsRequest(TIMEOUT_MS, self.may_change_count, asked)
        model.ask(request, self.version)


def draw_reassign(random: Random) -> Reassign:
    version = draw_version(random, ApiKey.ALTER_PARTITION_REASSIGNMENTS)
    topics = []
    for name, partitions in draw_places(random):
        moves = ((at, None if random.random() < 0.3 else draw_brokers(random)) for at in partitions)
        topics.append((name, tuple(moves)))
    return Reassign(version, version == 0 or random.random() < 0.6, tuple(topics))


class Moving(NamedTuple):
    """ListPartitionReassignments."""

    places: Places | None

    def execute(self, model: AdminModel) -> None:
        asked = None
        if self.places is not None:
            asked = [ListPartitionReassignmentsTopics(model.name(n), at) for n, at in self.places]
        model.ask(ListPartitionReassignmentsRequest(TIMEOUT_MS, asked), 0)


def draw_moving(random: Random) -> Moving:
    return Moving(None if random.random() < 0.3 else draw_places(random))


class Features(NamedTuple):
    version: int
    updates: tuple[tuple[str, int, bool, int], ...]
    dry: bool

    def execute(self, model: AdminModel) -> None:
        model.changes()
        updates = [FeatureUpdateKey(*each) for each in self.updates]
        model.ask(UpdateFeaturesRequest(TIMEOUT_MS, updates, self.dry), self.version)


def draw_features(random: Random) -> Features:
    """The version of the metadata itself only dry: there is no way back."""
    version = draw_version(random, ApiKey.UPDATE_FEATURES)
    dry = version > 0 and random.random() < 0.5
    names = [*FEATURES, *FEATURES, "nonsense", ""] + (["metadata.version"] if dry else [])
    updates = []
    for name in random.choices(names, k=random.choice((1, 1, 2, 0))):
        level = random.choice((0, 1, 1, 2, 2, 3, -1, 99))
        if name == "metadata.version":
            level = random.choice((0, 6, 7, 8, 20, 25, 29, 30, 31, -1))
        if version == 0:
            updates.append((name, level, random.random() < 0.5, 1))
        else:
            updates.append((name, level, False, random.choice((1, 1, 2, 2, 3, 3, 0, 4))))
    return Features(version, tuple(updates), dry)


class Versions(NamedTuple):
    """ApiVersions, for the levels of features."""

    version: int

    def execute(self, model: AdminModel) -> None:
        def levels(answer: Any) -> Any:
            out = copy(answer)
            out.api_keys, out.supported_features = [], []
            features = answer.finalized_features
            out.finalized_features = [each for each in features if each.name in FEATURES]
            return out

        request = ApiVersionsRequest("random", "1")
        model.ask(request, self.version, shown=levels)


def draw_versions(random: Random) -> Versions:
    return Versions(random.choice((3, 4)))


class Quorum(NamedTuple):
    version: int
    places: Places

    def execute(self, model: AdminModel) -> None:
        asked = [
            TopicData(model.name(name), [PartitionData(each) for each in at])
            for name, at in self.places
        ]

        def shown(answer: Any) -> Any:
            out = without_age(answer)
            out.nodes = []
            return out

        model.ask(DescribeQuorumRequest(asked), self.version, shown=shown)


def draw_quorum(random: Random) -> Quorum:
    version = draw_version(random, ApiKey.DESCRIBE_QUORUM)
    places = ((METADATA, (0,)),) if random.random() < 0.7 else draw_places(random)
    return Quorum(version, places)


DRAWN: dict[Callable[[Random], object], int] = {
    draw_cluster: 1, draw_log_dirs: 5, draw_move_dirs: 3, draw_elect: 4, draw_reassign: 5,
    draw_moving: 2, draw_features: 4, draw_versions: 2, draw_quorum: 1,
}  # fmt: skip
