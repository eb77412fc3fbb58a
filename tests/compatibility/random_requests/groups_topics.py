"""Random requests of groups whose topics come, grow, go and come again under the same name.

Without patterns: brokers look for the topics of those every ten seconds, not when they come.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.compatibility.differential.session import Topic
from tests.compatibility.random_requests.drawing import usually
from tests.compatibility.random_requests.groups import ADMIN, CLASSIC, CONSUMER, draw_of
from tests.compatibility.random_requests.groups import AREA as OF_LASTING_TOPICS
from tests.compatibility.random_requests.groups_consumer import Beat, draw_beat, draw_beats
from tests.compatibility.random_requests.groups_model import TOPICS, GroupsModel
from tests.compatibility.random_requests.request_sequence import Step

from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

FIRST = ("t", "u")
UNKNOWN = 3  # UNKNOWN_TOPIC_OR_PARTITION


class ChangingWorld(GroupsModel):
    """With topics of its own; one that is gone keeps its id here, as with clients."""

    def first_topics(self) -> dict[str, Topic]:
        self.sizes: dict[str, int] = {}  # of those that are there
        self.topics = {name: Topic(self.client.session.name(name), bytes(16)) for name in TOPICS}
        for name in FIRST:
            self.make(name, TOPICS[name])
        self.settle()
        return self.topics

    def make(self, name: str, partitions: int) -> None:
        self.topics[name] = self.client.session.topic(name, partitions)
        self.sizes[name] = partitions

    def drop(self, name: str) -> None:
        session, topic = self.client.session, self.topics[name]
        session.quietly(DeleteTopicsRequest([], [topic.name], 10_000), 5)
        asked = MetadataRequest([MetadataRequestTopic(bytes(16), topic.name)], False)
        session.until(asked, 9, lambda answer: answer.topics[0].error_code == UNKNOWN, "deletion")
        del self.sizes[name]

    def grow(self, name: str, partitions: int) -> None:
        session, topic = self.client.session, self.topics[name]
        wanted = CreatePartitionsTopic(topic.name, partitions, None)
        session.quietly(CreatePartitionsRequest([wanted], 10_000, False), 3)
        session.await_leaders(topic.name, partitions)
        self.sizes[name] = partitions

    def settle(self) -> None:
        """Wait until groups have applied a change. They are notified of it last."""
        self.client.session.settle()
        self.client.session.settle()


class Make(NamedTuple):
    name: str
    partitions: int

    def execute(self, model: ChangingWorld) -> None:
        if self.name not in model.sizes:
            model.make(self.name, self.partitions)
            model.settle()


class Drop(NamedTuple):
    name: str

    def execute(self, model: ChangingWorld) -> None:
        if self.name in model.sizes:
            model.drop(self.name)
            model.settle()


class Grow(NamedTuple):
    name: str
    more: int

    def execute(self, model: ChangingWorld) -> None:
        if self.name in model.sizes:
            model.grow(self.name, model.sizes[self.name] + self.more)
            model.settle()


# Chances


def draw_make(chance: random.Random) -> Make:
    return Make(chance.choice(list(TOPICS)), chance.randint(1, 4))


def draw_drop(chance: random.Random) -> Drop:
    return Drop(chance.choice(list(TOPICS)))


def draw_grow(chance: random.Random) -> Grow:
    return Grow(chance.choice(list(TOPICS)), chance.randint(1, 2))


def draw_plain_beat(chance: random.Random) -> Beat:
    """Of more than one topic as often as not."""
    drawn = draw_beat(chance)._replace(regex=None)
    is_wide = drawn.topics is None and chance.random() < 0.3
    return drawn._replace(topics=usually(chance, ("t", "u"), ("u", "ux"))) if is_wide else drawn


Weights = Mapping[Callable[[random.Random], Step], int]
CHANGES: Weights = {draw_make: 10, draw_drop: 6, draw_grow: 6}
CONSUMERS: Weights = {**CONSUMER, draw_beat: 0, draw_plain_beat: 20, draw_beats: 30}


def draw_steps(chance: random.Random, count: int) -> list[Step]:
    members = usually(chance, CONSUMERS, CLASSIC, often=0.75)
    return draw_of(chance, {**members, **ADMIN, **CHANGES}, count)


AREA = OF_LASTING_TOPICS._replace(name="groups_topics", draw=draw_steps, model=ChangingWorld)
