"""Topics of the coordinators that no client has needed yet."""

from __future__ import annotations

from tests.compatibility.differential.scripting import BrokerState, script
from tests.compatibility.differential.scripts.topics import TIMEOUT_MS, without_defaults
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState

NAMES = ("__consumer_offsets", "__transaction_state")
NAMED_BY_STATE_FROM = 6


@script(ApiKey.CREATE_TOPICS, broker_state=BrokerState.UNTOUCHED)
def create_internal_topics(session: Session) -> None:
    for name in NAMES:
        for partitions in (1, 3, -1, 0):
            request = CreateTopicsRequest([CreatableTopic(name, partitions, 1)], TIMEOUT_MS, True)
            session.ask(f"{name}, {partitions} partitions", request, shown=without_defaults)


@script(ApiKey.DELETE_TOPICS, broker_state=BrokerState.UNTOUCHED)
def delete_internal_topics(session: Session) -> None:
    for name in NAMES:
        states = (
            [DeleteTopicState(name, bytes(16))] if session.version >= NAMED_BY_STATE_FROM else ()
        )
        session.ask(name, DeleteTopicsRequest(states, [name], TIMEOUT_MS))
