"""Random requests of groups whose members commit in transactions.

Each of two producers has a transactional id of its own, and commits for any member of any group.
Half of the sequences are of one kind of clients: classic ones, or those whose transactions grow by
themselves and end with a new epoch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tests.compatibility.differential.scripts.group_offsets import fetch_group
from tests.compatibility.differential.scripts.transactional import (
    Producer,
    add_offsets,
    await_end,
    commit_offsets,
    end,
    init,
    new_producer,
)
from tests.compatibility.random_requests.drawing import usually
from tests.compatibility.random_requests.groups import ADMIN, CLASSIC, CONSUMER, draw_of
from tests.compatibility.random_requests.groups import AREA as WITHOUT_TRANSACTIONS
from tests.compatibility.random_requests.groups_classic import OWN, instance_of
from tests.compatibility.random_requests.groups_model import GROUPS, GroupsModel, Known
from tests.compatibility.random_requests.groups_offsets import CommitOffsets, FetchOffsets
from tests.compatibility.random_requests.groups_offsets import draw_commit as draw_plain_commit
from tests.compatibility.random_requests.groups_offsets import draw_fetch as draw_plain_fetch
from tests.compatibility.random_requests.request_sequence import Step
from tests.compatibility.random_requests.step_client import StepClient

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequest

PRODUCERS = ("A", "B")
MEMBERS_FROM = 3  # versions of TxnOffsetCommit that name a member
GROWING = 5  # version of TxnOffsetCommit and EndTxn with which transactions grow by themselves
FETCH_VERSION = 9


class GroupTransactionsModel(GroupsModel):
    def __init__(self, client: StepClient) -> None:
        super().__init__(client)
        self.producers = {name: new_producer(client.session, name) for name in PRODUCERS}

    def producer(self, name: str, newer: int) -> Producer:
        own = self.producers[name]
        return own._replace(epoch=max(own.epoch + newer, 0))

    def become(self, name: str, producer_id: int, epoch: int) -> None:
        self.producers[name] = self.producers[name]._replace(id=producer_id, epoch=epoch)

    def after_step(self) -> None:
        super().after_step()
        wanted = [fetch_group(self.group(name), None) for name in GROUPS]
        self.client.ask(OffsetFetchRequest("", (), wanted, False), FETCH_VERSION)


class Init(NamedTuple):
    """It begins again, and ends what it has not ended."""

    name: str
    version: int

    def execute(self, model: GroupTransactionsModel) -> None:
        producer = model.producers[self.name]
        answer = model.client.ask(init(producer.transactional_id), self.version)
        if answer.error_code == ErrorCode.NONE:
            model.become(self.name, answer.producer_id, answer.producer_epoch)
        await_end(model.client.session, producer)


class AddOffsets(NamedTuple):
    name: str
    group: str
    version: int
    newer: int = 0  # than its epoch

    def execute(self, model: GroupTransactionsModel) -> None:
        producer = model.producer(self.name, self.newer)
        model.client.ask(add_offsets(producer, model.group(self.group)), self.version)


class Commit(NamedTuple):
    name: str
    version: int
    plain: CommitOffsets  # as it would be without a transaction
    newer: int = 0

    def execute(self, model: GroupTransactionsModel) -> None:
        group, who = self.plain.group, self.plain.who
        known = model.who(group, who) if who and self.version >= MEMBERS_FROM else Known()
        of_member = self.version >= MEMBERS_FROM
        own = known.id if self.plain.id == OWN else model.member_id(group, self.plain.id)
        request = commit_offsets(
            model.producer(self.name, self.newer),
            model.group(group),
            *((model.topic(name).name, commits) for name, commits in self.plain.parts),
            generation=known.generation + self.plain.generation if of_member else -1,
            member=own if of_member else "",
            instance=instance_of(self.plain.instance, known) if of_member else None,
        )
        model.client.ask(request, self.version)


class End(NamedTuple):
    name: str
    version: int
    is_commit: bool
    newer: int = 0

    def execute(self, model: GroupTransactionsModel) -> None:
        producer = model.producer(self.name, self.newer)
        answer = model.client.ask(end(producer, is_commit=self.is_commit), self.version)
        if answer.error_code == ErrorCode.NONE and self.version >= GROWING:
            model.become(self.name, answer.producer_id, answer.producer_epoch)
        await_end(model.client.session, producer)


# Chances

Draw = Callable[[random.Random], Step]
Weights = Mapping[Draw, int]


def draw_newer(chance: random.Random) -> int:
    return usually(chance, 0, -1, 1, often=0.95)


def draw_init(chance: random.Random) -> Init:
    return Init(chance.choice(PRODUCERS), chance.randint(0, 5))


def draw_add(chance: random.Random) -> AddOffsets:
    group = usually(chance, "g", "h", "none", "")
    return AddOffsets(chance.choice(PRODUCERS), group, chance.randint(0, 4), draw_newer(chance))


def draws_of(versions: Sequence[int]) -> Weights:
    """Of clients with these versions of TxnOffsetCommit and EndTxn."""

    def draw_commit(chance: random.Random) -> Commit:
        plain = draw_plain_commit(chance)
        name, version = chance.choice(PRODUCERS), chance.choice(versions)
        return Commit(name, version, plain, draw_newer(chance))

    def draw_end(chance: random.Random) -> End:
        name, version = chance.choice(PRODUCERS), chance.choice(versions)
        return End(name, version, usually(chance, True, False, often=0.6), draw_newer(chance))

    return {draw_commit: 30, draw_end: 14, draw_init: 4, draw_add: 14}


def draw_fetch(chance: random.Random) -> FetchOffsets:
    return draw_plain_fetch(chance)._replace(is_stable=chance.random() < 0.5)


CLIENTS: tuple[Weights, ...] = (
    draws_of(range(GROWING)),
    draws_of([GROWING]),
    draws_of(range(GROWING + 1)),
)


def draw_steps(chance: random.Random, count: int) -> list[Step]:
    others = {**ADMIN, draw_plain_fetch: 0, draw_fetch: 8}
    members = chance.choice((CLASSIC, CONSUMER))
    return draw_of(chance, {**members, **others, **chance.choice(CLIENTS)}, count)


AREA = WITHOUT_TRANSACTIONS._replace(
    name="groups_transactions", draw=draw_steps, model=GroupTransactionsModel
)
