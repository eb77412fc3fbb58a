"""What one broker has answered to the members of groups in one sequence of requests.

Owns      two groups, two topics, and who has which id, generation and epoch in which group.
Promises  after a step nothing is under way but what waits for other members. Proof is a commit to
          a group beside, twice: with one thread and one log the first one is written after all
          that came before, and the answers to that are on their way before the second is read.
          Then some requests about nothing: our broker passes an answer that waited from one turn of
          its loop to the next a few times, and a request is at least a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from tests.compatibility.differential.scripting import BrokerState, Run, Script
from tests.compatibility.differential.scripts.group_offsets import commit
from tests.compatibility.differential.session import Session, Topic
from tests.compatibility.random_requests.request_sequence import Diverged
from tests.compatibility.random_requests.step_client import StepClient

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.describe_groups_response import DescribeGroupsResponse

GROUPS = ("g", "h")
TOPICS = {"t": 3, "u": 1, "ux": 2}
UNKNOWN_ID = b"0123456789abcdef"
DESCRIBE_VERSION, CONSUMER_DESCRIBE_VERSION, PROBE_VERSION = 5, 1, 8
TURNS_MAX = 5  # of a loop, between the decision to answer and the answer
CALM = 40  # descriptions that are the same
# Of a group whose first members are waited for a moment, even if that is no time at all.
FRESH = {"", "Empty", "Dead"}


@dataclass
class Known:
    """What a client knows of a group of which it is, was, or wants to be a member."""

    id: str = ""
    generation: int = -1  # or epoch
    leader: str = ""
    members: tuple[str, ...] = ()  # ids, as the leader receives them
    instance: str | None = None
    protocols: tuple[str, ...] = ("range",)
    kind: str = "consumer"
    topics: tuple[str, ...] = ("t",)
    joining: int = 0  # which of all joins of the sequence, if one waits
    assigned: dict[bytes, list[int]] = field(default_factory=dict)

    @property
    def is_leader(self) -> bool:
        return bool(self.id) and self.leader == self.id


class GroupsModel:
    def __init__(self, client: StepClient) -> None:
        self.client = client
        self.topics = self.first_topics()
        self.topics["none"] = Topic(client.session.name("none"), UNKNOWN_ID)
        self.known: dict[str, dict[str, Known]] = {group: {} for group in GROUPS}
        self._states = dict.fromkeys(GROUPS, "")
        self._sizes = dict.fromkeys(GROUPS, 0)
        self._consumers: set[str] = set()  # groups that are consumer groups
        self.patterned: set[str] = set()  # groups that were given a pattern
        self.is_gathering = False  # several join at once
        self._joins = 0

    def first_topics(self) -> dict[str, Topic]:
        session = self.client.session
        for name, topic in topics_of(session.address).items():
            session.names.define("id", topic.id, name)
        return dict(topics_of(session.address))

    # What things are called here

    def group(self, name: str) -> str:
        return self.client.session.name(name) if name else ""

    def topic(self, name: str) -> Topic:
        return self.topics[name]

    def who(self, group: str, name: str) -> Known:
        return self.known.setdefault(group, {}).setdefault(name, Known())

    def next_join(self, known: Known) -> int:
        """From now on it waits for this one alone."""
        self._joins += 1
        known.joining = self._joins
        return self._joins

    def leave_behind(self, group: str, name: str) -> None:
        """The name stands for a new member from now on; the old one is still awaited."""
        members = self.known[group]
        old = members[name]
        members[f"{name}*"] = replace(old, joining=0)
        members[name] = Known(joining=old.joining)

    def is_fresh(self, group: str) -> bool:
        """Whether it had no members of any kind after the step before this one."""
        return self._states.get(group) in FRESH and group not in self._consumers

    def begin(self, group: str) -> None:
        """A member has joined a new group: it has its first generation before others join."""
        self.rest()
        request = DescribeGroupsRequest([self.group(group)], False)
        (described,) = self.client.session.quietly(request, DESCRIBE_VERSION).groups
        self._states[group] = described.group_state

    def is_preparing(self, group: str) -> bool:
        """After the step before this one."""
        return self._states.get(group) == "PreparingRebalance"

    def member_id(self, group: str, name: str) -> str:
        """Its id; "?" is an unknown id, "" is none."""
        if name in ("", "?"):
            return "somebody" if name else ""
        return self.who(group, name).id

    def is_leader_clear(self, group: str, leaving: Iterable[str]) -> bool:
        """Whether it is clear who leads when these leave: Kafka's hash table chooses of several.

        Some of them may be refused, so one is left at most where there were two; and who has no id
        here may have an instance there.
        """
        leaders = {each.leader for each in self.known[group].values() if each.leader}
        gone = {self.member_id(group, name) for name in leaving}
        return not gone & (leaders | {""}) or self._sizes.get(group, 0) <= 2

    # The broker at rest

    def quiet(self) -> None:
        for _ in range(2):
            lasting = topics_of(self.client.session.address)["t"]
            request = commit(self.group("probe"), (lasting, [(0, 1, -1, "")]))
            answer = self.client.session.quietly(request, PROBE_VERSION)
            assert answer.topics[0].partitions[0].error_code == 0, answer
        connection = self.client.session.connection("quiet")
        for _ in range(TURNS_MAX):
            connection.send_probe()
            connection.receive_frame()

    def rest(self) -> None:
        """Until nothing is under way; keep what was answered."""
        self.quiet()
        self._await_first_generations()
        self.client.collect()

    def after_step(self) -> None:
        self.rest()
        names = [self.group(name) for name in GROUPS]
        described = self.client.ask(DescribeGroupsRequest(names, False), DESCRIBE_VERSION)
        self._states = {
            name: each.group_state for name, each in zip(GROUPS, described.groups, strict=True)
        }
        self._sizes = {
            name: len(each.members) for name, each in zip(GROUPS, described.groups, strict=True)
        }
        reported = self.client.ask(
            ConsumerGroupDescribeRequest(names, False), CONSUMER_DESCRIBE_VERSION
        )
        for name in self._consumers:
            if self._sizes[name] > 1:
                raise Diverged(
                    "a consumer group became a classic one: a hash table chose its leader"
                )
        self._consumers = {
            name for name, each in zip(GROUPS, reported.groups, strict=True) if not each.error_code
        }

    def _await_first_generations(self) -> None:
        fresh = [name for name in GROUPS if self.is_fresh(name)]
        if fresh and self.client.is_waiting:
            self.client.session.until(
                DescribeGroupsRequest([self.group(name) for name in fresh], False),
                DESCRIBE_VERSION,
                no_group_is_preparing,
                "the first generation",
            )
            self.quiet()

    def await_patterns(self) -> None:
        """Until the topics of patterns are found, which both brokers do beside: no more changes."""
        request = ConsumerGroupDescribeRequest([self.group(name) for name in GROUPS], False)
        shown: list[str] = []
        while len(shown) < CALM or len(set(shown[-CALM:])) > 1:
            self.quiet()
            shown.append(repr(self.client.session.quietly(request, CONSUMER_DESCRIBE_VERSION)))

    def only_own(self) -> Callable[[Any], Any]:
        """Of a list of groups, those of this sequence."""

        def shown(answer: Any) -> Any:
            out, prefix = copy(answer), self.group("g")[:-1]
            out.groups = [each for each in answer.groups if each.group_id.startswith(prefix)]
            return out

        return shown


@cache
def topics_of(address: str) -> dict[str, Topic]:
    """The same ones for all sequences: what groups do is nothing to them."""
    script = Script(
        "random-topics", ApiKey.METADATA, (0,), lambda _session: None, BrokerState.READY
    )
    session = Session(address, Run(script, 0))
    try:
        made = {name: session.topic(name, count) for name, count in TOPICS.items()}
        session.settle()
    finally:
        session.close()
    return made


def no_group_is_preparing(answer: DescribeGroupsResponse) -> bool:
    return all(each.group_state != "PreparingRebalance" for each in answer.groups)
