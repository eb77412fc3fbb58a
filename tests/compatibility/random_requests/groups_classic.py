"""Steps of classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from tests.compatibility.differential.scripts.group_members import SESSION_MS
from tests.compatibility.random_requests.drawing import some_version, usually
from tests.compatibility.random_requests.groups_model import GROUPS, GroupsModel, Known
from tests.compatibility.random_requests.request_sequence import Diverged

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from ottla.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.join_group_request import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.sync_group_request import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)

MEMBERS = ("a", "b", "c", "d")
INSTANCES_FROM_JOIN, INSTANCES_FROM, MEMBER_LISTS_FROM, PROTOCOLS_FROM_SYNC = 5, 3, 3, 5
# The last one is Kafka's for a pending member that says it is a static one.
GONE = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.UNKNOWN_SERVER_ERROR,
)
OWN = "(own)"  # whatever the member has


class Join(NamedTuple):
    group: str
    who: str
    version: int
    id: str = OWN  # own, "" for none, "?" for an unknown one, or another member's
    instance: str | None = None
    protocols: tuple[str, ...] = ("range",)
    kind: str = "consumer"
    topics: tuple[str, ...] = ("t",)
    session_ms: int = SESSION_MS
    reason: str | None = None

    def execute(self, model: GroupsModel) -> None:
        known = model.who(self.group, self.who)
        member_id = known.id if self.id == OWN else model.member_id(self.group, self.id)
        request = JoinGroupRequest(
            model.group(self.group), self.session_ms, SESSION_MS, member_id, self.instance,
            self.kind, [JoinGroupRequestProtocol(name, self._subscription(model))
                        for name in self.protocols], self.reason,
        )  # fmt: skip
        number = model.next_join(known)
        model.client.send(
            request,
            self.version,
            lambda answer: self._answered(model, number, answer.member_id or member_id, answer),
        )

    def _subscription(self, model: GroupsModel) -> bytes:
        names = [model.topic(name).name for name in self.topics]
        return ConsumerProtocolSubscription(names, None).encode_prefixed(1)

    def _answered(self, model: GroupsModel, number: int, member_id: str, answer: Any) -> None:
        """`member_id` is that of the response, or that of the request if the response has none."""
        known, code = model.who(self.group, self.who), answer.error_code
        if known.joining != number or code == ErrorCode.REBALANCE_IN_PROGRESS:
            return  # it has asked again since, and Kafka would not answer any more
        known.joining = 0
        if known.id and member_id not in ("", known.id):
            model.leave_behind(self.group, self.who)
            known = model.who(self.group, self.who)
        if code == ErrorCode.MEMBER_ID_REQUIRED:
            known.id = answer.member_id
        elif code in GONE:
            known.id = ""
        elif code == ErrorCode.GROUP_MAX_SIZE_REACHED and (
            model.is_gathering or model.is_preparing(self.group)
        ):
            raise Diverged("Kafka waits for the one that it has just put out")
        elif code == ErrorCode.NONE:
            known.id, known.generation = answer.member_id, answer.generation_id
            known.leader, known.instance = answer.leader, self.instance
            known.members = tuple(each.member_id for each in answer.members)
            known.protocols, known.kind, known.topics = self.protocols, self.kind, self.topics


class Gather(NamedTuple):
    """All members of the group join again unchanged, then all of them sync."""

    group: str
    join_version: int
    sync_version: int

    def execute(self, model: GroupsModel) -> None:
        for _ in MEMBERS:
            if model.is_fresh(self.group):
                self._join(model, 1)
                model.begin(self.group)
        model.is_gathering = True
        self._join(model)
        model.rest()
        model.is_gathering = False
        for name, known in sorted(
            classic_members(model, self.group), key=lambda item: item[1].is_leader
        ):
            if known.id and not known.joining:
                version = max(self.sync_version, INSTANCES_FROM if known.instance else 0)
                Sync(self.group, name, version).execute(model)
                model.rest()

    def _join(self, model: GroupsModel, count_max: int | None = None) -> None:
        idle = [
            (name, known)
            for name, known in classic_members(model, self.group)
            if known.id and not known.joining
        ]
        for name, known in idle[:count_max]:
            version = max(self.join_version, INSTANCES_FROM_JOIN if known.instance else 0)
            Join(
                self.group, name, version, OWN, known.instance, known.protocols, known.kind,
                known.topics,
            ).execute(model)  # fmt: skip


def classic_members(model: GroupsModel, group: str) -> list[tuple[str, Known]]:
    return [item for item in model.known[group].items() if item[0][:1] in MEMBERS]


class Sync(NamedTuple):
    group: str
    who: str
    version: int
    id: str = OWN
    generation: int = 0  # more than the one it knows
    instance: str | None = OWN
    protocol: tuple[str | None, str | None] | None = None  # type and name; its own

    def execute(self, model: GroupsModel) -> None:
        known = model.who(self.group, self.who)
        member_id = known.id if self.id == OWN else model.member_id(self.group, self.id)
        kind, name = self.protocol or (known.kind, known.protocols[0])
        request = SyncGroupRequest(
            model.group(self.group), known.generation + self.generation, member_id,
            instance_of(self.instance, known),
            kind if self.version >= PROTOCOLS_FROM_SYNC else None,
            name if self.version >= PROTOCOLS_FROM_SYNC else None,
            self._parts(model, known),
        )  # fmt: skip
        model.client.send(request, self.version)

    def _parts(self, model: GroupsModel, known: Known) -> list[SyncGroupRequestAssignment]:
        """A leader assigns each member one partition, in the order of their names here."""
        names = {each.id: name for name, each in model.known[self.group].items() if each.id}
        ids = sorted(known.members, key=lambda each: names.get(each, ""))
        return [SyncGroupRequestAssignment(each, part(model, at)) for at, each in enumerate(ids)]


def part(model: GroupsModel, index: int) -> bytes:
    topic = TopicPartition(model.topic("t").name, [index])
    return ConsumerProtocolAssignment([topic]).encode_prefixed(1)


def instance_of(given: str | None, known: Known) -> str | None:
    return known.instance if given == OWN else given


class Heartbeat(NamedTuple):
    group: str
    who: str
    version: int
    id: str = OWN
    generation: int = 0
    instance: str | None = OWN

    def execute(self, model: GroupsModel) -> None:
        known = model.who(self.group, self.who)
        member_id = known.id if self.id == OWN else model.member_id(self.group, self.id)
        request = HeartbeatRequest(
            model.group(self.group), known.generation + self.generation, member_id,
            instance_of(self.instance, known),
        )  # fmt: skip
        model.client.ask(request, self.version)


class Leave(NamedTuple):
    group: str
    whos: tuple[tuple[str, str | None], ...]  # member, and by which instance
    version: int
    by_instance: bool = False  # without the member id

    def execute(self, model: GroupsModel) -> None:
        if not model.is_leader_clear(self.group, [who for who, _ in self.whos]):
            return
        people = [self._identity(model, *each) for each in self.whos]
        if self.version < MEMBER_LISTS_FROM:
            request = LeaveGroupRequest(model.group(self.group), people[0].member_id)
        else:
            request = LeaveGroupRequest(model.group(self.group), "", people)
        answer = model.client.ask(request, self.version)
        if answer is not None and answer.error_code == ErrorCode.NONE:
            self._forget(model, answer)

    def _identity(self, model: GroupsModel, who: str, instance: str | None) -> MemberIdentity:
        known = model.who(self.group, who)
        member_id = "" if self.by_instance else model.member_id(self.group, who)
        return MemberIdentity(member_id, instance_of(instance, known))

    def _forget(self, model: GroupsModel, answer: Any) -> None:
        codes = [each.error_code for each in answer.members] or [ErrorCode.NONE]
        for (who, _), code in zip(self.whos, codes, strict=False):
            if code == ErrorCode.NONE and who in model.known[self.group]:
                known = model.known[self.group][who]
                known.id, known.leader, known.members = "", "", ()


# Chances

PROTOCOLS = (("range",), ("range",), ("range", "roundrobin"), ("roundrobin", "range"), ("sticky",))


def draw_join(chance: random.Random) -> Join:
    who = chance.choice(MEMBERS)
    is_static = chance.random() < 0.3
    version = some_version(chance, ApiKey.JOIN_GROUP)
    if is_static:
        version = max(version, INSTANCES_FROM_JOIN)
    return Join(
        usually(chance, "g", *GROUPS),
        who,
        version,
        usually(chance, OWN, "", "?", *MEMBERS, often=0.85),
        f"i{usually(chance, who, *MEMBERS)}" if is_static else None,
        chance.choice(PROTOCOLS) if chance.random() < 0.5 else ("range",),
        usually(chance, "consumer", "connect", "", often=0.95),
        usually(chance, ("t",), ("t", "u"), ("u",), ()),
        usually(chance, SESSION_MS, 99, 60_001, often=0.97),
        usually(chance, None, "because"),
    )


def draw_gather(chance: random.Random) -> Gather:
    return Gather(
        usually(chance, "g", "h"),
        some_version(chance, ApiKey.JOIN_GROUP),
        some_version(chance, ApiKey.SYNC_GROUP),
    )


def draw_sync(chance: random.Random) -> Sync:
    return Sync(
        usually(chance, "g", "h"),
        chance.choice(MEMBERS),
        some_version(chance, ApiKey.SYNC_GROUP),
        usually(chance, OWN, "", "?", *MEMBERS),
        usually(chance, 0, 1, -1),
        usually(chance, OWN, None, "ia", "ib", ""),
        usually(
            chance, None, ("connect", "range"), ("consumer", "sticky"), (None, None), often=0.9
        ),
    )


def draw_heartbeat(chance: random.Random) -> Heartbeat:
    return Heartbeat(
        usually(chance, "g", "h", "none", ""),
        chance.choice(MEMBERS),
        some_version(chance, ApiKey.HEARTBEAT),
        usually(chance, OWN, "", "?", *MEMBERS),
        usually(chance, 0, 1, -1),
        usually(chance, OWN, None, "ia", "ib", ""),
    )


def draw_leave(chance: random.Random) -> Leave:
    count = usually(chance, 1, 2, 3, 0, often=0.7)
    whos = tuple(
        (usually(chance, chance.choice(MEMBERS), "?", ""), usually(chance, OWN, None, "ia", "ib"))
        for _ in range(count)
    )
    version = some_version(chance, ApiKey.LEAVE_GROUP)
    return Leave(
        usually(chance, "g", "h"),
        whos,
        version if len(whos) == 1 else max(version, MEMBER_LISTS_FROM),
        usually(chance, False, True),
    )
