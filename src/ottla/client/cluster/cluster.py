"""A cluster as a client sees it: connections to brokers, and metadata.

Owns      one connection to each broker, the known leaders and coordinators.
Promises  retriable errors are retried with back-off and jitter until `default.api.timeout.ms`; then
          GaveUp has the last error. Brokers that restart or move are found again through any known
          broker, then through bootstrap.servers.
Leaves    the requests to `admin/`; reading and writing records, which have connections of their
          own, to `fetching/` and `producing/`.
Threads   one per Cluster; what `connector` returns may be called in any.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Self

from ottla.base.ids import TopicPartition
from ottla.client.cluster.retries import Reaction, Retries, reaction_to
from ottla.client.cluster.topology import Leader, TopicDescription, Topology, with_leaders
from ottla.client.connections.connection import ClientConnection, open_connection
from ottla.client.connections.transport import OpenTransport
from ottla.client.errors import (
    ClientError,
    ConnectionLost,
    TopicRecreated,
    UnknownTopic,
    Unreachable,
    code_of,
    kafka_error,
)
from ottla.client.settings import ClientSettings
from ottla.config.addresses import Address
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.metadata_response import MetadataResponse

# Builds a request whose content depends on the version that a broker supports.
BuildFor = Callable[[ClientConnection], Message]

# A topic that was just created may be unknown to some brokers for a moment.
UNKNOWN_TOPIC_MS = 10_000


class Cluster:
    """The first request opens a connection, not the constructor."""

    def __init__(
        self, settings: ClientSettings, *, open_transport: OpenTransport | None = None
    ) -> None:
        self.settings = settings
        self.topology = Topology()
        self._open_transport = open_transport
        self._connections: dict[Address, ClientConnection] = {}
        self._last_resort: set[Address] = set()  # silent brokers, and those with old metadata
        self.coordinators: dict[tuple[int, str], int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    # Topics and brokers

    def describe_topics(
        self, names: Sequence[str], *, may_create: bool = False
    ) -> dict[str, TopicDescription]:
        """The topics of these names, without those that do not exist.

        With `may_create` brokers that create topics by themselves (`auto.create.topics.enable`)
        begin to do so for names that do not exist: ask again a moment later.
        """
        found = {}
        for name, topic in self.read_metadata(names, may_create=may_create).items():
            found[name] = with_leaders(topic, self.topology)
        return found

    def list_topics(self) -> list[str]:
        """All names, internal topics included."""
        return sorted(self.read_metadata(None))

    def broker_ids(self) -> list[int]:
        """The ids of all live brokers."""
        self.read_metadata([])
        return sorted(self.topology.brokers)

    def read_metadata(
        self,
        names: Sequence[str] | None,
        retries: Retries | None = None,
        *,
        may_create: bool = False,
    ) -> dict[str, TopicDescription]:
        is_alone = retries is None  # otherwise the caller notes the success of the whole
        retries = retries or Retries("Metadata", self.settings)
        while True:
            answer, problem = self._ask_metadata(names, retries, may_create)
            problems = {} if problem else self.topology.learn(answer)
            for name, code in problems.items():
                if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    continue
                if reaction_to(code) is Reaction.FAIL:
                    raise kafka_error(code, f"topic {name}")
                problem = f"topic {name}: {code.name}"
            if not problem:
                if is_alone:
                    retries.note_success()
                wanted = {topic.name or "" for topic in answer.topics} - problems.keys()
                return {name: self.topology.topics[name] for name in wanted}
            retries.pause(problem)

    def _ask_metadata(
        self, names: Sequence[str] | None, retries: Retries, may_create: bool
    ) -> tuple[MetadataResponse, str]:
        topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics, allow_auto_topic_creation=may_create)
        answer = self.ask_any(request, retries)
        assert isinstance(answer, MetadataResponse)
        code = code_of(answer.error_code)
        if code == ErrorCode.NONE:
            return answer, ""
        if code == ErrorCode.REBOOTSTRAP_REQUIRED:
            self.topology.brokers = {}
        elif reaction_to(code) is Reaction.FAIL:
            raise kafka_error(code, "Metadata")
        return answer, code.name

    def leader_of(self, partition: TopicPartition) -> Leader | None:
        """None if the partition has no leader, or the leader is not known yet."""
        leader = self.topology.leaders.get(partition)
        return leader if leader is not None and leader.broker_id >= 0 else None

    def leader_address(self, partition: TopicPartition) -> str:
        """The leader and its address, for error messages."""
        leader = self.leader_of(partition)
        if leader is None:
            return "its leader"
        return f"broker {leader.broker_id} ({self.topology.brokers.get(leader.broker_id)})"

    # Connections

    def open_connection(self, broker_id: int) -> ClientConnection:
        """A new connection, which the caller must close."""
        return self.connector(broker_id)()

    def connector(self, broker_id: int) -> Callable[[], ClientConnection]:
        """Opens a connection to the broker; may be called from any thread."""
        address = self._address_of(broker_id)
        return partial(open_connection, address, self.settings, self._open_transport)

    def connection_to(self, broker_id: int) -> ClientConnection:
        """The shared connection to a broker."""
        return self._connection_at(self._address_of(broker_id))

    def _address_of(self, broker_id: int) -> Address:
        address = self.topology.brokers.get(broker_id)
        if address is None:
            raise Unreachable({f"broker {broker_id}": "not among the cluster's live brokers"})
        return address

    def _connection_at(self, address: Address) -> ClientConnection:
        connection = self._connections.get(address)
        if connection is None or not connection.is_open:
            connection = open_connection(address, self.settings, self._open_transport)
            self._connections[address] = connection
        return connection

    def _candidates(self) -> Iterator[Address]:
        """Connected brokers first, then known ones, then bootstrap.servers; at the end those that
        were silent, or had outdated metadata."""
        open_now = [at for at, connection in self._connections.items() if connection.is_open]
        known = list(self.topology.brokers.values())
        bootstrap = list(self.settings.addresses)
        for group in (open_now, known, bootstrap):
            random.shuffle(group)
        every = dict.fromkeys([*open_now, *known, *bootstrap])
        yield from sorted(every, key=self._last_resort.__contains__)

    # Requests

    def ask_any(self, request: Message | BuildFor, retries: Retries) -> Any:
        """Any broker that responds. Error codes in the response are left to the caller."""
        while True:
            problems = {}
            for address in self._candidates():
                try:
                    connection = self._connection_at(address)
                    answer = connection.ask(built_for(connection, request))
                    self._note_age(address, answer)
                    return answer
                except (ConnectionLost, Unreachable) as error:
                    problems[str(address)] = error_text(error)
            if not retries.left_ms:
                raise Unreachable(problems)
            retries.pause(Unreachable(problems))

    def _note_age(self, address: Address, answer: Message) -> None:
        if isinstance(answer, MetadataResponse):
            is_outdated = self.topology.is_newer_than(answer)
            (self._last_resort.add if is_outdated else self._last_resort.discard)(address)

    def avoid(self, broker_id: int) -> None:
        """Ask others first: this one does not answer at the moment."""
        if broker_id in self.topology.brokers:
            self._last_resort.add(self.topology.brokers[broker_id])

    def ask_broker(
        self, broker_id: int, request: Message | BuildFor, *, at_most: int | None = None
    ) -> Any:
        """One attempt; ConnectionLost or Unreachable if it fails."""
        connection = self.connection_to(broker_id)
        return connection.ask(built_for(connection, request), at_most=at_most)

    # Leaders

    def forget_leaders(self, partitions: Iterable[TopicPartition]) -> None:
        """Look the leaders up again; a leader of the same epoch is accepted."""
        for partition in partitions:
            self.topology.forget_leader(partition)

    def find_leaders(
        self, partitions: Iterable[TopicPartition], retries: Retries | None = None
    ) -> ClientError | None:
        """Look up the leaders that are not known. Returns an error if some have none; UnknownTopic
        if a topic has been missing for longer than a new one would be."""
        unknown = [each for each in partitions if self.leader_of(each) is None]
        if not unknown:
            return None
        names = sorted({each.topic for each in unknown})
        brief = Retries(f"looking for {', '.join(names)}", self.settings, UNKNOWN_TOPIC_MS)
        while missing := self._first_missing(unknown, self.read_metadata(names, retries)):
            if not brief.left_ms:
                raise missing
            brief.pause(missing)
        leaderless = next((each for each in unknown if self.leader_of(each) is None), None)
        if leaderless is None:
            return None
        return kafka_error(ErrorCode.LEADER_NOT_AVAILABLE, str(leaderless))

    def _first_missing(
        self, partitions: Iterable[TopicPartition], topics: Mapping[str, TopicDescription]
    ) -> UnknownTopic | None:
        for each in partitions:
            if each.topic not in topics:
                return UnknownTopic(each.topic)
            if not self.topology.has_partition(each):
                return UnknownTopic(each.topic, each.partition)
        return None

    def check_topic_id(self, topic: str, expected: bytes) -> None:
        """TopicRecreated if the name is known to belong to another topic by now."""
        known = self.topology.topics.get(topic)
        if known is not None and any(expected) and known.topic_id != expected:
            raise TopicRecreated(topic, expected, known.topic_id)


def built_for(connection: ClientConnection, request: Message | BuildFor) -> Message:
    return request if isinstance(request, Message) else request(connection)


def error_text(error: ClientError) -> str:
    return str(error.__cause__ or error)
