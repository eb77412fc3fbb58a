"""Brings a broker that has just started to where scripts may begin.

A broker makes some things when they are first asked for, and says meanwhile that they are not there
yet: the topics of its coordinators, the coordinators, the first producer ids, its own connection to
a coordinator. How often it says so depends on the machine, so all of that is waited for here, and
never in what is compared.
"""

from __future__ import annotations

import secrets

from tests.compatibility.differential.scripting import BrokerState, Run, Script
from tests.compatibility.differential.scripts.transactional import (
    await_end,
    commit_offsets,
    end,
    new_producer,
    write,
)
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.metadata_request import MetadataRequest

INTERNAL = {"__consumer_offsets", "__transaction_state"}
GROUP, TRANSACTION = 0, 1
# The first versions in which a producer's transaction grows with what it writes.
PRODUCE_VERSION, OFFSETS_VERSION, END_VERSION = 12, 5, 5


def is_untouched(address: str) -> bool:
    session = session_with(address, "look")
    try:
        topics = session.quietly(MetadataRequest(None, False), 9).topics
    finally:
        session.close()
    return not INTERNAL & {each.name for each in topics}


def make_ready(address: str) -> None:
    """Once for every broker; again does no harm."""
    session = session_with(address, "ready")
    try:
        find_coordinators(session)
        use_coordinators(session)
    finally:
        session.close()


def session_with(address: str, name: str) -> Session:
    """Outside of any script; nothing of it is kept."""
    unique = f"{name}-{secrets.token_hex(3)}"
    return Session(
        address, Run(Script(unique, ApiKey.METADATA, (0,), ignore, BrokerState.READY), 0)
    )


def ignore(_session: Session) -> None: ...


def find_coordinators(session: Session) -> None:
    group = session.name("g")
    for kind in (GROUP, TRANSACTION):
        session.once_ready(FindCoordinatorRequest(group, kind), 2)
    described = DescribeGroupsRequest([group], False)
    session.once_ready(described, 5, lambda answer: answer.groups[0].error_code)
    session.once_ready(InitProducerIdRequest(None, 60_000), 4)


def use_coordinators(session: Session) -> None:
    """One transaction over a partition and a group."""
    topic, producer = session.topic("t"), new_producer(session, "p")
    session.once_ready(
        write(producer, topic, 0, 0),
        PRODUCE_VERSION,
        lambda answer: answer.responses[0].partition_responses[0].error_code,
    )
    session.once_ready(
        commit_offsets(producer, session.name("g"), (topic.name, [(0, 1, -1, "")])),
        OFFSETS_VERSION,
        lambda answer: answer.topics[0].partitions[0].error_code,
    )
    session.once_ready(end(producer, is_commit=True), END_VERSION)
    await_end(session, producer)
