"""ElectLeaders: elects the preferred replica, or any replica at the cost of records.

Also the periodic elections of the controller: of preferred replicas, and unclean ones where a topic
allows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ottla.controller.decision import Decision, ItemRejected, check_count, quoted
from ottla.controller.elections import Election, PartitionTarget, decide_change, rules_for
from ottla.controller.state import ControllerState
from ottla.metadata.entities import Topic
from ottla.metadata.records import PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest
from ottla.protocol.messages.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

_TYPES = {0: Election.PREFERRED, 1: Election.UNCLEAN}
ELECTIONS_MAX = 1000  # per periodic election


def decide_elect_leaders(
    state: ControllerState, request: ElectLeadersRequest
) -> Decision[ElectLeadersResponse]:
    if request.topic_partitions is not None and not request.topic_partitions:
        return Decision((), ElectLeadersResponse())  # for any election type
    election = _TYPES.get(request.election_type)
    if election is None:
        return _unknown_type(request)
    named = request.topic_partitions or ()
    check_count(len(named) + sum(len(each.partitions) for each in named))
    records: dict[tuple[bytes, int], PartitionChanged] = {}
    if request.topic_partitions is None:
        every = (
            (topic.name, range(len(topic.partitions))) for topic in state.image.topics.values()
        )
        results = _results(state, every, election, records, is_all=True)
    else:
        wanted = ((each.topic, each.partitions) for each in named)
        results = _results(state, wanted, election, records, is_all=False)
    answer = ElectLeadersResponse(replica_election_results=results)
    return Decision(tuple(records.values()), answer)


def _results(
    state: ControllerState,
    wanted: Iterable[tuple[str, Iterable[int]]],
    election: Election,
    records: dict[tuple[bytes, int], PartitionChanged],
    *,
    is_all: bool,
) -> list[ReplicaElectionResult]:
    results = []
    for name, indexes in wanted:
        answered = []
        for index in indexes:
            code, message = ErrorCode.NONE, None
            try:
                record = _elect(state, name, index, election)
                records[record.topic_id, index] = record
            except BrokerError as refused:
                code, message = refused.code, refused.message
            if not (is_all and code is ErrorCode.ELECTION_NOT_NEEDED):
                answered.append(PartitionResult(index, code, message))
        results.append(ReplicaElectionResult(name, answered))
    return results


def _elect(state: ControllerState, name: str, index: int, election: Election) -> PartitionChanged:
    topic = state.image.topic(name)
    if topic is None:
        raise ItemRejected(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {quoted(name)}")
    if not 0 <= index < len(topic.partitions):
        what = f"No such partition as {name}-{index}"
        raise ItemRejected(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, what)
    partition = topic.partitions[index]
    is_preferred = election is Election.PREFERRED
    if partition.has_preferred_leader if is_preferred else partition.has_leader:
        what = "Leader election not needed for topic partition."
        raise ItemRejected(ErrorCode.ELECTION_NOT_NEEDED, what)
    record = _change(state, topic, index, election)
    if record is None and is_preferred:
        what = "The preferred leader was not available."
        raise ItemRejected(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, what)
    if record is None:
        what = "Eligible topic partition leaders are not available."
        raise ItemRejected(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, what)
    return record


def _change(
    state: ControllerState, topic: Topic, index: int, election: Election
) -> PartitionChanged | None:
    partition = topic.partitions[index]
    wanted = PartitionTarget.as_is(partition)
    wanted.election = election
    rules = rules_for(state, topic, partition)
    return decide_change(topic.id, index, partition, wanted, rules)


def _unknown_type(request: ElectLeadersRequest) -> Decision[ElectLeadersResponse]:
    code, what = ErrorCode.INVALID_REQUEST, f"Unknown election type {request.election_type}"
    results = [
        ReplicaElectionResult(
            each.topic, [PartitionResult(index, code, what) for index in each.partitions]
        )
        for each in request.topic_partitions or ()
    ]
    return Decision((), ElectLeadersResponse(0, code, results))


def decide_balance_leaders(state: ControllerState) -> Decision[bool]:
    """Elect preferred replicas; the answer is whether there may be more to do."""
    found: list[PartitionChanged] = []
    for topic, index in _not_led_as_preferred(state):
        if len(found) == ELECTIONS_MAX:
            return Decision(tuple(found), True)
        record = _change(state, topic, index, Election.PREFERRED)
        if record is not None:
            found.append(record)
    return Decision(tuple(found), False)


def _not_led_as_preferred(state: ControllerState) -> Iterator[tuple[Topic, int]]:
    for topic, index, partition in state.image.all_partitions():
        if not partition.has_preferred_leader:
            yield topic, index


def decide_unclean_elections(state: ControllerState) -> Decision[bool]:
    """Elect leaders for partitions without one, if the topic allows any replica to lead."""
    found: list[PartitionChanged] = []
    for topic, index, partition in state.image.all_partitions():
        if partition.has_leader or not state.may_elect_uncleanly(topic):
            continue
        if len(found) == ELECTIONS_MAX:
            return Decision(tuple(found), True)
        record = _change(state, topic, index, Election.UNCLEAN)
        if record is not None:
            found.append(record)
    return Decision(tuple(found), False)
