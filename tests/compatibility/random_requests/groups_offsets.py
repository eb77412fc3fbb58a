"""Steps about what groups have read: OffsetCommit, OffsetFetch, OffsetDelete."""

from __future__ import annotations

import random
from typing import NamedTuple

from tests.compatibility.differential.scripts.group_offsets import (
    GROUPS_FROM,
    Commit,
    commit,
    fetch,
    fetch_group,
)
from tests.compatibility.random_requests.drawing import some_of, some_version, usually
from tests.compatibility.random_requests.groups_classic import MEMBERS, OWN, instance_of
from tests.compatibility.random_requests.groups_model import GroupsModel, Known

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequest

TOPICS = ("t", "u", "ux", "none")
Parts = tuple[tuple[str, tuple[int, ...]], ...]


class CommitOffsets(NamedTuple):
    group: str
    who: str  # "": no member, no generation
    version: int
    parts: tuple[tuple[str, tuple[Commit, ...]], ...]
    id: str = OWN
    generation: int = 0
    instance: str | None = OWN

    def execute(self, model: GroupsModel) -> None:
        known = model.who(self.group, self.who) if self.who else Known()
        member_id = known.id if self.id == OWN else model.member_id(self.group, self.id)
        request = commit(
            model.group(self.group),
            *((model.topic(name), commits) for name, commits in self.parts),
            generation=known.generation + self.generation,
            member=member_id,
            instance=instance_of(self.instance, known),
        )
        model.client.ask(request, self.version)


class FetchOffsets(NamedTuple):
    groups: tuple[str, ...]
    version: int
    parts: Parts | None
    who: str | None = None
    epoch: int = 0  # more than it has
    is_stable: bool = False

    def execute(self, model: GroupsModel) -> None:
        named = None
        if self.parts is not None:
            named = [(model.topic(name), partitions) for name, partitions in self.parts]
        if self.version < GROUPS_FROM:
            request = fetch(self.version, model.group(self.groups[0]), named, stable=self.is_stable)
            model.client.ask(request, self.version)
            return
        wanted = []
        for group in self.groups:
            member, epoch = None, -1
            if self.who is not None:
                known = model.who(group, self.who)
                member, epoch = known.id or "somebody", known.generation + self.epoch
            wanted.append(fetch_group(model.group(group), named, member, epoch))
        model.client.ask(OffsetFetchRequest("", (), wanted, self.is_stable), self.version)


class DeleteOffsets(NamedTuple):
    group: str
    parts: Parts

    def execute(self, model: GroupsModel) -> None:
        chosen = [
            OffsetDeleteRequestTopic(
                model.topic(name).name, [OffsetDeleteRequestPartition(each) for each in partitions]
            )
            for name, partitions in self.parts
        ]
        model.client.ask(OffsetDeleteRequest(model.group(self.group), chosen), 0)


# Chances


def draw_commit(chance: random.Random) -> CommitOffsets:
    parts = tuple(
        (name, tuple(draw_offset(chance) for _ in range(usually(chance, 1, 2, 0, often=0.5))))
        for name in some_of(chance, TOPICS, 3)
    )
    return CommitOffsets(
        usually(chance, "g", "h", "new"),
        usually(chance, chance.choice(MEMBERS), "", often=0.6),
        some_version(chance, ApiKey.OFFSET_COMMIT),
        parts,
        usually(chance, OWN, "", "?", *MEMBERS),
        usually(chance, 0, 1, -1, often=0.85),
        usually(chance, OWN, None, "ia", "", often=0.9),
    )


def draw_offset(chance: random.Random) -> Commit:
    return (
        usually(chance, 0, 1, 2, 3, -1, often=0.4),
        usually(chance, chance.randint(0, 99), -1, 2**63 - 1),
        usually(chance, -1, 0, 5),
        usually(chance, "", None, "kept"),
    )


def draw_parts(chance: random.Random) -> Parts:
    partitions = (0, 0, 1, 2, 3, -1)
    return tuple((name, some_of(chance, partitions, 3)) for name in some_of(chance, TOPICS, 3))


def draw_fetch(chance: random.Random) -> FetchOffsets:
    count = usually(chance, 1, 2, 3)
    return FetchOffsets(
        tuple(usually(chance, "g", "h", "none", "new", "") for _ in range(count)),
        some_version(chance, ApiKey.OFFSET_FETCH),
        usually(chance, None, draw_parts(chance), often=0.5),
        usually(chance, None, *MEMBERS),
        usually(chance, 0, 1, -1),
        usually(chance, False, True),
    )


def draw_delete_offsets(chance: random.Random) -> DeleteOffsets:
    return DeleteOffsets(usually(chance, "g", "h", "none", "new", ""), draw_parts(chance))
