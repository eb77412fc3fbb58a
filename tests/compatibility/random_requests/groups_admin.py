"""Steps of those who look after groups: Describe, List and DeleteGroups, FindCoordinator."""

from __future__ import annotations

import random
from typing import NamedTuple

from tests.compatibility.random_requests.drawing import some_of, some_version, usually
from tests.compatibility.random_requests.groups_model import GroupsModel

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.list_groups_request import ListGroupsRequest

NAMES = ("g", "g", "h", "new", "none", "")
STATES = (
    "Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "Assigning",
    "Reconciling", "stable", "nonsense", "",
)  # fmt: skip
TYPES = ("classic", "consumer", "Consumer", "nonsense", "")
KEYS_FROM = 4


class Describe(NamedTuple):
    groups: tuple[str, ...]
    version: int
    with_operations: bool = False

    def execute(self, model: GroupsModel) -> None:
        names = [model.group(each) for each in self.groups]
        model.client.ask(DescribeGroupsRequest(names, self.with_operations), self.version)


class ConsumerDescribe(NamedTuple):
    groups: tuple[str, ...]
    version: int
    with_operations: bool = False

    def execute(self, model: GroupsModel) -> None:
        names = [model.group(each) for each in self.groups]
        model.client.ask(ConsumerGroupDescribeRequest(names, self.with_operations), self.version)


class List(NamedTuple):
    states: tuple[str, ...]
    types: tuple[str, ...]
    version: int

    def execute(self, model: GroupsModel) -> None:
        request = ListGroupsRequest(self.states, self.types)
        model.client.ask(request, self.version, shown=model.only_own())


class Delete(NamedTuple):
    groups: tuple[str, ...]
    version: int

    def execute(self, model: GroupsModel) -> None:
        names = [model.group(each) for each in self.groups]
        model.client.ask(DeleteGroupsRequest(names), self.version)


class Find(NamedTuple):
    keys: tuple[str, ...]
    kind: int
    version: int

    def execute(self, model: GroupsModel) -> None:
        names = [model.group(each) for each in self.keys]
        if self.version < KEYS_FROM:
            request = FindCoordinatorRequest(names[0] if names else "", self.kind)
        else:
            request = FindCoordinatorRequest("", self.kind, names)
        model.client.ask(request, self.version)


# Chances


def draw_describe(chance: random.Random) -> Describe:
    version = some_version(chance, ApiKey.DESCRIBE_GROUPS)
    return Describe(some_of(chance, NAMES, 3), version, usually(chance, False, True))


def draw_consumer_describe(chance: random.Random) -> ConsumerDescribe:
    version = some_version(chance, ApiKey.CONSUMER_GROUP_DESCRIBE)
    return ConsumerDescribe(some_of(chance, NAMES, 3), version, usually(chance, False, True))


def draw_list(chance: random.Random) -> List:
    version = some_version(chance, ApiKey.LIST_GROUPS)
    return List(some_of(chance, STATES, 2), some_of(chance, TYPES, 2), version)


def draw_delete(chance: random.Random) -> Delete:
    return Delete(some_of(chance, NAMES, 3), some_version(chance, ApiKey.DELETE_GROUPS))


def draw_find(chance: random.Random) -> Find:
    version = some_version(chance, ApiKey.FIND_COORDINATOR)
    return Find(some_of(chance, NAMES, 3), usually(chance, 0, 1, 2, 3, -1), version)
