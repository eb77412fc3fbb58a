"""A cluster as a client sees it: whom to ask, and asking until there is an answer.

Owns      connections to brokers (one each), the picture of leaders, who coordinates what.
Promises  errors that time or new metadata can cure are tried again, with back-off and jitter,
          until `default.api.timeout.ms`; then GaveUp says what stood in the way. Brokers that
          die, move and come back are found again through any broker known, then through
          bootstrap.servers.
Leaves    what is asked to `offsets.py`, `groups.py`, `transactions.py` and so on; reading and
          writing records, which have connections of their own, to `fetching.py`, `producing.py`.
Threads   one per Cluster; what `connector` returns may be called in any.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from ottla.base.ids import TopicPartition
from ottla.client.connection import Connection, open_connection
from ottla.client.errors import (
    ClientError,
    ConnectionLost,
    TopicRecreated,
    UnknownTopic,
    Unreachable,
    code_of,
    kafka_error,
)
from ottla.client.retrying import Patience, Reaction, reaction_to
from ottla.client.settings import Address, ClientSettings
from ottla.client.topology import Leader, TopicDescription, Topology, by_leader, with_leaders
from ottla.client.transport import OpenTransport
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.metadata_response import MetadataResponse

T = TypeVar("T")
R = TypeVar("R")

# Makes a request whose content depends on the version that a broker speaks.
BuildFor = Callable[[Connection], Message]

GROUP, TRANSACTION = 0, 1  # kinds of coordinators
FIND_MANY_FROM = 4
# A topic that was just created may be news to some brokers, for a moment.
UNKNOWN_TOPIC_MS = 10_000


class Told(NamedTuple):
    """What an answer says of one thing that was asked: a code, and the words with it."""

    code: ErrorCode
    where: str
    message: str | None = None


class Cluster:
    """Constructing it opens nothing: the first question does."""

    def __init__(
        self, settings: ClientSettings, *, open_transport: OpenTransport | None = None
    ) -> None:
        self.settings = settings
        self.topology = Topology()
        self._open_transport = open_transport
        self._connections: dict[Address, Connection] = {}
        self._coordinators: dict[tuple[int, str], int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    # What there is

    def describe_topics(self, names: Sequence[str]) -> dict[str, TopicDescription]:
        """As the cluster sees them now; names that do not exist are left out."""
        found = {}
        for name, topic in self._read_metadata(names).items():
            found[name] = with_leaders(topic, self.topology)
        return found

    def list_topics(self) -> list[str]:
        """All names, internal topics included."""
        return sorted(self._read_metadata(None))

    def broker_ids(self) -> list[int]:
        """Of all brokers that are alive, as the cluster sees it now."""
        self._read_metadata([])
        return sorted(self.topology.brokers)

    def _read_metadata(
        self, names: Sequence[str] | None, patience: Patience | None = None
    ) -> dict[str, TopicDescription]:
        patience = patience or Patience("Metadata", self.settings)
        while True:
            answer, trouble = self._ask_metadata(names, patience)
            troubles = {} if trouble else self.topology.learn(answer)
            for name, code in troubles.items():
                if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    continue
                if reaction_to(code) is Reaction.FAIL:
                    raise kafka_error(code, f"topic {name}")
                trouble = f"topic {name}: {code.name}"
            if not trouble:
                wanted = {topic.name or "" for topic in answer.topics} - troubles.keys()
                return {name: self.topology.topics[name] for name in wanted}
            patience.pause(trouble)

    def _ask_metadata(
        self, names: Sequence[str] | None, patience: Patience
    ) -> tuple[MetadataResponse, str]:
        topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        answer = self.ask_any(MetadataRequest(topics, allow_auto_topic_creation=False), patience)
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
        """As far as is known; None if nobody leads it, or nobody has asked yet."""
        leader = self.topology.leaders.get(partition)
        return leader if leader is not None and leader.broker_id >= 0 else None

    # Connections

    def open_connection(self, broker_id: int) -> Connection:
        """A connection of the caller's own, to be closed by it."""
        return self.connector(broker_id)()

    def connector(self, broker_id: int) -> Callable[[], Connection]:
        """Opens a connection to where the broker lives now; may be called from any thread."""
        address = self._address_of(broker_id)
        return partial(open_connection, address, self.settings, self._open_transport)

    def connection_to(self, broker_id: int) -> Connection:
        """The shared connection to a broker."""
        return self._connection_at(self._address_of(broker_id))

    def _address_of(self, broker_id: int) -> Address:
        address = self.topology.brokers.get(broker_id)
        if address is None:
            raise Unreachable({f"broker {broker_id}": "not among the cluster's live brokers"})
        return address

    def _connection_at(self, address: Address) -> Connection:
        connection = self._connections.get(address)
        if connection is None or not connection.is_open:
            connection = open_connection(address, self.settings, self._open_transport)
            self._connections[address] = connection
        return connection

    def _candidates(self) -> Iterator[Address]:
        """Connected brokers first, then known ones, then where we began."""
        open_now = [at for at, connection in self._connections.items() if connection.is_open]
        known = list(self.topology.brokers.values())
        bootstrap = list(self.settings.addresses)
        for group in (open_now, known, bootstrap):
            random.shuffle(group)
        yield from dict.fromkeys([*open_now, *known, *bootstrap])

    # Asking

    def ask_any(self, request: Message | BuildFor, patience: Patience) -> Any:
        """Whichever broker answers. Errors inside the answer are left to the caller."""
        while True:
            troubles = {}
            for address in self._candidates():
                try:
                    connection = self._connection_at(address)
                    return connection.ask(built_for(connection, request))
                except (ConnectionLost, Unreachable) as error:
                    troubles[str(address)] = told_of(error)
            if not patience.left_ms:
                raise Unreachable(troubles)
            patience.pause(Unreachable(troubles))

    def ask_broker(
        self, broker_id: int, request: Message | BuildFor, *, at_most: int | None = None
    ) -> Any:
        """One attempt; ConnectionLost or Unreachable if it fails."""
        connection = self.connection_to(broker_id)
        return connection.ask(built_for(connection, request), at_most=at_most)

    def ask_until(
        self, request: Message | BuildFor, problems: Callable[[Any], Iterable[Told]], what: str
    ) -> Any:
        """Whichever broker answers without an error that may pass."""
        patience = Patience(what, self.settings)
        while True:
            answer = self.ask_any(request, patience)
            trouble = check(problems(answer))
            if trouble is None:
                return answer
            patience.pause(trouble)

    def ask_controller(
        self,
        request: Message | BuildFor,
        problems: Callable[[Any], Iterable[Told]],
        what: str,
        *,
        failing: Collection[ErrorCode] = (),
    ) -> Any:
        """The broker that changes the cluster. `problems` tells the codes in an answer; `failing`
        are codes that would pass elsewhere, and will not here."""
        patience = Patience(what, self.settings)
        while True:
            try:
                connection = self._connection_to_controller(patience)
                answer = connection.ask(built_for(connection, request))
                trouble = check(problems(answer), failing)
                if trouble is None:
                    return answer
            except (ConnectionLost, Unreachable) as error:
                trouble = error
            patience.pause(trouble)
            self._read_metadata([], patience)

    def _connection_to_controller(self, patience: Patience) -> Connection:
        if self.topology.controller_id not in self.topology.brokers:
            self._read_metadata([], patience)
        if self.topology.controller_id not in self.topology.brokers:
            raise Unreachable({"controller": "the cluster has none at the moment"})
        return self.connection_to(self.topology.controller_id)

    def ask_coordinator(
        self,
        kind: int,
        key: str,
        request: Message | BuildFor,
        problems: Callable[[Any], Iterable[Told]],
        *,
        at_most: int | None = None,
        timeout_ms: int | None = None,
    ) -> Any:
        """The broker that keeps this group (GROUP) or transactional id (TRANSACTION)."""
        named = request_name(request) if isinstance(request, Message) else "coordinator"
        what = f"{named} of {key!r}"
        patience = Patience(what, self.settings, timeout_ms)
        while True:
            try:
                broker_id = self._find_coordinator(kind, key, patience)
                answer = self.ask_broker(broker_id, request, at_most=at_most)
                trouble = check(problems(answer))
                if trouble is None:
                    return answer
                is_lost = reaction_to(trouble.code) is Reaction.REFRESH
            except (ConnectionLost, Unreachable) as error:
                trouble, is_lost = error, True
            if is_lost:
                self._coordinators.pop((kind, key), None)
            patience.pause(trouble)

    def _find_coordinator(self, kind: int, key: str, patience: Patience) -> int:
        known = self._coordinators.get((kind, key))
        if known is not None:
            return known
        while True:
            code, broker_id, address, said = self._ask_for_coordinator(kind, key, patience)
            if code == ErrorCode.NONE:
                self.topology.brokers[broker_id] = address
                self._coordinators[kind, key] = broker_id
                return broker_id
            error = kafka_error(code, f"FindCoordinator of {key!r}", said)
            if reaction_to(code) is Reaction.FAIL:
                raise error
            patience.pause(error)

    def _ask_for_coordinator(
        self, kind: int, key: str, patience: Patience
    ) -> tuple[ErrorCode, int, Address, str | None]:
        def build(connection: Connection) -> FindCoordinatorRequest:
            if connection.version_of(ApiKey.FIND_COORDINATOR) >= FIND_MANY_FROM:
                return FindCoordinatorRequest("", kind, [key])
            return FindCoordinatorRequest(key, kind)

        answer = self.ask_any(build, patience)
        found = answer.coordinators[0] if answer.coordinators else answer
        return (
            code_of(found.error_code),
            found.node_id,
            Address(found.host, found.port),
            found.error_message,
        )

    # Asking leaders

    def ask_leader(
        self,
        partition: TopicPartition,
        request: Message,
        problems: Callable[[Any], Iterable[Told]],
        *,
        at_most: int | None = None,
    ) -> Any:
        """The leader of one partition."""

        def read(answer: Any) -> Iterator[tuple[TopicPartition, Told, Any]]:
            told = next(iter(problems(answer)), Told(ErrorCode.NONE, ""))
            yield partition, told, answer

        asked = {partition: None}
        return self.ask_leaders(asked, lambda _: request, read, at_most=at_most)[partition]

    def ask_leaders(
        self,
        wanted: Mapping[TopicPartition, T],
        build: Callable[[Mapping[TopicPartition, T]], Message],
        read: Callable[[Any], Iterable[tuple[TopicPartition, Told, R]]],
        *,
        at_most: int | None = None,
    ) -> dict[TopicPartition, R]:
        """Ask each leader for its share, again and again until all partitions have an answer.

        `build` makes the request for a share; `read` tells what an answer says of each partition.
        """
        remaining, found = dict(wanted), dict[TopicPartition, R]()
        patience: Patience | None = None
        while remaining:
            trouble = self.find_leaders(remaining)
            shares, _ = by_leader(remaining, self.topology.leaders)
            for broker_id, share in shares.items():
                try:
                    answer = self.ask_broker(broker_id, build(share), at_most=at_most)
                except (ConnectionLost, Unreachable) as error:
                    self.forget_leaders(share)
                    trouble = error
                    continue
                trouble = self._take(read(answer), remaining, found) or trouble
            if remaining:
                patience = patience or Patience(_list_of(remaining), self.settings)
                patience.pause(trouble or "no leader")
        return found

    def _take(
        self,
        told: Iterable[tuple[TopicPartition, Told, R]],
        remaining: dict[TopicPartition, T],
        found: dict[TopicPartition, R],
    ) -> ClientError | None:
        """Keep what was found, leave what may yet be; errors that will stay are raised."""
        trouble: ClientError | None = None
        for partition, (code, where, message), result in told:
            if code == ErrorCode.NONE:
                found[partition] = result
                remaining.pop(partition, None)
                continue
            trouble = kafka_error(code, where, message)
            if reaction_to(code) is Reaction.FAIL:
                raise trouble
            if reaction_to(code) is Reaction.REFRESH:
                self.forget_leaders([partition])
        return trouble

    def forget_leaders(self, partitions: Iterable[TopicPartition]) -> None:
        """They will be looked up again, the same epoch being good enough."""
        for partition in partitions:
            self.topology.forget_leader(partition)

    def find_leaders(
        self, partitions: Iterable[TopicPartition], patience: Patience | None = None
    ) -> ClientError | None:
        """Look up the leaders that are not known. What still stands in the way, if anything;
        UnknownTopic once a topic has been missing for too long to be just new."""
        unknown = [each for each in partitions if self.leader_of(each) is None]
        if not unknown:
            return None
        names = sorted({each.topic for each in unknown})
        brief = Patience("", self.settings, UNKNOWN_TOPIC_MS)
        while missing := self._first_missing(unknown, self._read_metadata(names, patience)):
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


def check(told: Iterable[Told], failing: Collection[ErrorCode] = ()) -> Any:
    """The first problem that may pass (a KafkaError), or None; one that stays is raised."""
    passing = None
    for code, where, message in told:
        if code == ErrorCode.NONE:
            continue
        error = kafka_error(code, where, message)
        if code in failing or reaction_to(code) is Reaction.FAIL:
            raise error
        passing = passing or error
    return passing


def built_for(connection: Connection, request: Message | BuildFor) -> Message:
    return request if isinstance(request, Message) else request(connection)


def request_name(request: Message) -> str:
    return type(request).__name__.removesuffix("Request")


def told_of(error: ClientError) -> str:
    return str(error.__cause__ or error)


def _list_of(partitions: Iterable[TopicPartition]) -> str:
    names = [str(each) for each in partitions]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
