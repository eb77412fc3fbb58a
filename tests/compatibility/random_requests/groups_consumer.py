"""Steps of consumer groups: ConsumerGroupHeartbeat, from the first to the last of a member."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.compatibility.differential.scripts.consumer_groups import (
    LEAVE,
    LEAVE_FOR_NOW,
    REBALANCE_MS,
)
from tests.compatibility.random_requests.drawing import some_version, usually
from tests.compatibility.random_requests.groups_model import GroupsModel, Known

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.consumer_group_heartbeat_request import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)

# Two members with one instance id replace each other. No member changes between static and dynamic:
# no client does that, and Kafka forgets the state of such a member.
INSTANCES = {"p": None, "q": None, "r": "ir", "s": "is", "x": "ir", "y": "is"}
MEMBERS = tuple(INSTANCES)
JOIN = 0
OWN = 1_000  # stands for the current epoch; other values are sent unchanged
GONE = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNRELEASED_INSTANCE_ID,
)


class Beat(NamedTuple):
    group: str
    who: str
    version: int = 1
    epoch: int = OWN
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    instance: str | None = None
    assignor: str | None = None
    owned: str = "as told"  # or "nothing", "unsaid", "one less", "one more"
    rack: str | None = None
    rebalance_ms: int = -1

    def execute(self, model: GroupsModel) -> None:
        if self.regex is not None and self.group in model.patterned:
            self._replace(regex=None).execute(model)  # Kafka looks for topics once in ten seconds
            return
        known = model.who(self.group, self.who)
        is_join = self.epoch == JOIN or (self.epoch == OWN and known.generation <= 0)
        request = self._joining(model) if is_join else self._beating(model, known)
        answer = model.client.ask(request, self.version)
        if answer is not None:
            self._answered(model, known, answer)
        if self.regex is not None:
            model.patterned.add(self.group)
            model.await_patterns()

    def _joining(self, model: GroupsModel) -> ConsumerGroupHeartbeatRequest:
        topics = self.topics or (() if self.regex else ("t",))
        own = self._replace(instance=INSTANCES[self.who])
        return own._request(model, JOIN, topics, [], REBALANCE_MS)

    def _beating(self, model: GroupsModel, known: Known) -> ConsumerGroupHeartbeatRequest:
        epoch = self.epoch
        if abs(epoch - OWN) <= 1:
            epoch = known.generation + epoch - OWN
        return self._request(model, epoch, self.topics, self._owned(known), self.rebalance_ms)

    def _request(
        self,
        model: GroupsModel,
        epoch: int,
        topics: Sequence[str] | None,
        owned: list[TopicPartitions] | None,
        rebalance_ms: int,
    ) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest(
            model.group(self.group),
            f"member-{self.who}-0123456789",
            epoch,
            self.instance,
            self.rack,
            rebalance_ms,
            None if topics is None else [model.topic(name).name for name in topics],
            None if self.regex is None else model.topic("t").name[:-1] + self.regex,
            self.assignor,
            owned,
        )

    def _owned(self, known: Known) -> list[TopicPartitions] | None:
        if self.owned == "unsaid":
            return None
        held = {topic: list(each) for topic, each in known.assigned.items()}
        if self.owned == "nothing":
            held = {}
        for partitions in held.values():
            if self.owned == "one less":
                partitions.pop()
            elif self.owned == "one more":
                partitions.append(max(partitions) + 1)
        return [TopicPartitions(topic, each) for topic, each in held.items() if each]

    def _answered(self, model: GroupsModel, known: Known, answer: Any) -> None:
        if answer.error_code in GONE or answer.member_epoch < 0:
            known.generation, known.assigned = 0, {}
        elif answer.error_code == ErrorCode.NONE:
            known.id, known.generation = answer.member_id or known.id, answer.member_epoch
            if answer.assignment is not None:
                parts = answer.assignment.topic_partitions
                known.assigned = {bytes(each.topic_id): list(each.partitions) for each in parts}


class BeatAll(NamedTuple):
    """All members of a group report what they own, one after the other, several times."""

    group: str
    rounds: int = 2

    def execute(self, model: GroupsModel) -> None:
        for _ in range(self.rounds):
            for name, known in list(model.known[self.group].items()):
                if name in MEMBERS and known.generation > 0:
                    Beat(self.group, name, instance=INSTANCES[name]).execute(model)


# Chances

OWNED = ("nothing", "unsaid", "one less", "one more")
LONG_MS = 10_000_000  # no time at all would be a race of the timers


def draw_beat(chance: random.Random) -> Beat:
    who, group = chance.choice(MEMBERS), usually(chance, "g", "h", "", often=0.9)
    version = usually(chance, 1, some_version(chance, ApiKey.CONSUMER_GROUP_HEARTBEAT))
    return Beat(
        group,
        who,
        version,
        usually(chance, OWN, JOIN, OWN + 1, OWN - 1, 99, -3, often=0.85),
        usually(chance, None, ("t",), ("u",), ("t", "ux"), ("none",), (), often=0.6),
        usually(chance, None, "u.*", "t", "[", "nothing", "", often=0.9) if version else None,
        usually(chance, INSTANCES[who], None, "ir", "", often=0.95),
        usually(chance, None, "range", "nonsense", "", often=0.75),
        usually(chance, "as told", *OWNED),
        usually(chance, None, "here", "", often=0.95),
        usually(chance, -1, REBALANCE_MS, LONG_MS, often=0.9),
    )


def draw_beats(chance: random.Random) -> BeatAll:
    return BeatAll(usually(chance, "g", "h", often=0.9), chance.randint(1, 3))


def draw_goodbye(chance: random.Random) -> Beat:
    who = chance.choice(MEMBERS)
    epoch = usually(chance, LEAVE, LEAVE_FOR_NOW, often=0.6)
    instance = usually(chance, INSTANCES[who], None, "ir", often=0.9)
    return Beat(usually(chance, "g", "h", often=0.9), who, 1, epoch, None, None, instance)
