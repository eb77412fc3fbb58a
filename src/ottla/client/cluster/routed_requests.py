"""Requests to controllers, coordinators and leaders, which may move, repeated until they succeed.

Promises  retriable errors are retried with back-off and jitter until `default.api.timeout.ms`;
          other errors are raised at once, as an exception of their type.
Leaves    connections and metadata to `cluster.py`, the requests to `admin/`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import BuildFor, Cluster, built_for
from ottla.client.cluster.retries import Reaction, Retries, reaction_to
from ottla.client.cluster.topology import by_leader
from ottla.client.connections.connection import ClientConnection
from ottla.client.errors import (
    ClientError,
    ConnectionLost,
    KafkaError,
    Unreachable,
    code_of,
    kafka_error,
)
from ottla.config.addresses import Address
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest

T = TypeVar("T")
R = TypeVar("R")

GROUP, TRANSACTION = 0, 1  # kinds of coordinators
FIND_MANY_FROM = 4


class PartResult(NamedTuple):
    """The error code, and the message, of one item of a response."""

    code: ErrorCode
    where: str
    message: str | None = None


def check(results: Iterable[PartResult], failing: Collection[ErrorCode] = ()) -> KafkaError | None:
    """The first retriable error, or None; an error that is not retriable is raised."""
    passing = None
    for code, where, message in results:
        if code == ErrorCode.NONE:
            continue
        error = kafka_error(code, where, message)
        if code in failing or reaction_to(code) is Reaction.FAIL:
            raise error
        passing = passing or error
    return passing


def send_until_successful(
    cluster: Cluster,
    request: Message | BuildFor,
    problems: Callable[[Any], Iterable[PartResult]],
    what: str,
) -> Any:
    """Any broker, until the response has no retriable error."""
    retries = Retries(what, cluster.settings)
    while True:
        answer = cluster.ask_any(request, retries)
        problem = check(problems(answer))
        if problem is None:
            retries.note_success()
            return answer
        retries.pause(problem)


def send_to_controller(
    cluster: Cluster,
    request: Message | BuildFor,
    problems: Callable[[Any], Iterable[PartResult]],
    what: str,
    *,
    failing: Collection[ErrorCode] = (),
) -> Any:
    """The controller. `problems` reads the error codes of a response; `failing` are codes that are
    retriable for other requests, and not for this one."""
    retries = Retries(what, cluster.settings)
    problem: ClientError | None
    while True:
        try:
            connection = _connection_to_controller(cluster, retries)
            answer = connection.ask(built_for(connection, request))
            problem = check(problems(answer), failing)
            if problem is None:
                retries.note_success()
                return answer
        except (ConnectionLost, Unreachable) as error:
            problem = error
        retries.pause(problem)
        cluster.read_metadata([], retries)


def _connection_to_controller(cluster: Cluster, retries: Retries) -> ClientConnection:
    if cluster.topology.controller_id not in cluster.topology.brokers:
        cluster.read_metadata([], retries)
    if cluster.topology.controller_id not in cluster.topology.brokers:
        raise Unreachable({"controller": "the cluster has none at the moment"})
    return cluster.connection_to(cluster.topology.controller_id)


def send_to_coordinator(
    cluster: Cluster,
    kind: int,
    key: str,
    request: Message | BuildFor,
    problems: Callable[[Any], Iterable[PartResult]],
    what: str,
    *,
    at_most: int | None = None,
) -> Any:
    """The coordinator of this group (GROUP) or transactional id (TRANSACTION)."""
    retries = Retries(f"{what} of {key!r}", cluster.settings)
    problem: ClientError | None
    while True:
        try:
            broker_id = _find_coordinator(cluster, kind, key, retries)
            answer = cluster.ask_broker(broker_id, request, at_most=at_most)
            problem = check(problems(answer))
            if problem is None:
                retries.note_success()
                return answer
            is_lost = reaction_to(problem.code) is Reaction.REFRESH
        except (ConnectionLost, Unreachable) as error:
            problem, is_lost = error, True
        if is_lost:
            cluster.coordinators.pop((kind, key), None)
        retries.pause(problem)


def find_coordinator(cluster: Cluster, kind: int, key: str) -> tuple[int, Address]:
    """The broker that coordinates this group (GROUP) or transactional id (TRANSACTION).

    KafkaError if there is none now.
    """
    retries = Retries(f"FindCoordinator of {key!r}", cluster.settings)
    code, broker_id, address, message = _request_coordinator(cluster, kind, key, retries)
    if code != ErrorCode.NONE:
        raise kafka_error(code, f"FindCoordinator of {key!r}", message)
    return broker_id, address


def _find_coordinator(cluster: Cluster, kind: int, key: str, retries: Retries) -> int:
    known = cluster.coordinators.get((kind, key))
    if known is not None:
        return known
    while True:
        code, broker_id, address, message = _request_coordinator(cluster, kind, key, retries)
        if code == ErrorCode.NONE:
            cluster.topology.brokers[broker_id] = address
            cluster.coordinators[kind, key] = broker_id
            return broker_id
        error = kafka_error(code, f"FindCoordinator of {key!r}", message)
        if reaction_to(code) is Reaction.FAIL:
            raise error
        retries.pause(error)


def _request_coordinator(
    cluster: Cluster, kind: int, key: str, retries: Retries
) -> tuple[ErrorCode, int, Address, str | None]:
    def build(connection: ClientConnection) -> FindCoordinatorRequest:
        if connection.version_of(ApiKey.FIND_COORDINATOR) >= FIND_MANY_FROM:
            return FindCoordinatorRequest("", kind, [key])
        return FindCoordinatorRequest(key, kind)

    answer = cluster.ask_any(build, retries)
    found = answer.coordinators[0] if answer.coordinators else answer
    return (
        code_of(found.error_code),
        found.node_id,
        Address(found.host, found.port),
        found.error_message,
    )


def send_to_leaders(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, T],
    build: Callable[[Mapping[TopicPartition, T]], Message],
    read: Callable[[Any], Iterable[tuple[TopicPartition, PartResult, R]]],
    *,
    at_most: int | None = None,
) -> dict[TopicPartition, R]:
    """Each leader for its partitions, until all partitions have a result. `build` makes the
    request for some partitions; `read` gives the result of each partition in a response."""
    remaining, found = dict(wanted), dict[TopicPartition, R]()
    retries: Retries | None = None
    while remaining:
        problem = cluster.find_leaders(remaining)
        shares, _ = by_leader(remaining, cluster.topology.leaders)
        for broker_id, share in shares.items():
            try:
                answer = cluster.ask_broker(broker_id, build(share), at_most=at_most)
            except (ConnectionLost, Unreachable) as error:
                cluster.forget_leaders(share)
                problem = error
                continue
            problem = _take(cluster, read(answer), remaining, found) or problem
        if not remaining and retries is not None:
            retries.note_success()
        elif remaining:
            retries = retries or Retries(_list_of(remaining), cluster.settings)
            retries.pause(problem or "no leader")
    return found


def _take(
    cluster: Cluster,
    results: Iterable[tuple[TopicPartition, PartResult, R]],
    remaining: dict[TopicPartition, T],
    found: dict[TopicPartition, R],
) -> ClientError | None:
    """Move partitions with a result from `remaining` to `found`. Returns a retriable error, if
    there was one; others are raised."""
    problem: ClientError | None = None
    for partition, (code, where, message), result in results:
        if code == ErrorCode.NONE:
            found[partition] = result
            remaining.pop(partition, None)
            continue
        problem = kafka_error(code, where, message)
        if reaction_to(code) is Reaction.FAIL:
            raise problem
        if reaction_to(code) is Reaction.REFRESH:
            cluster.forget_leaders([partition])
    return problem


def _list_of(partitions: Iterable[TopicPartition]) -> str:
    names = [str(each) for each in partitions]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
