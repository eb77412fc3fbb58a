"""Requests to a coordinator, sent to each of the brokers: to the right one, to one that is not it,
and while it has stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from tests.compatibility.differential.cluster_session import BROKERS, ClusterSession
from tests.compatibility.differential.scripting import add_cluster_script, cluster_script
from tests.compatibility.differential.scripts.consumer_groups import ALICE, joining
from tests.compatibility.differential.scripts.group_members import join_request
from tests.compatibility.differential.scripts.group_offsets import commit, fetch, store
from tests.compatibility.differential.scripts.transactional import (
    Producer,
    add_offsets,
    add_partitions,
    commit_offsets,
    end,
    init,
)
from tests.compatibility.differential.session import Topic

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from ottla.protocol.messages.delete_groups_request import DeleteGroupsRequest
from ottla.protocol.messages.describe_groups_request import DescribeGroupsRequest
from ottla.protocol.messages.describe_transactions_request import DescribeTransactionsRequest
from ottla.protocol.messages.heartbeat_request import HeartbeatRequest
from ottla.protocol.messages.leave_group_request import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.list_groups_request import ListGroupsRequest
from ottla.protocol.messages.list_transactions_request import ListTransactionsRequest
from ottla.protocol.messages.offset_delete_request import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.protocol.messages.sync_group_request import SyncGroupRequest

SEVERAL_LEAVE_FROM = 3
UNKNOWN = 10**9  # an id that no producer has
Of = Callable[[int, str, Topic], Message]  # version, group or transactional id, topic


def leave(version: int, group: str, _topic: Topic) -> Message:
    if version < SEVERAL_LEAVE_FROM:
        return LeaveGroupRequest(group, "m")
    return LeaveGroupRequest(group, "", [MemberIdentity("m")])


def fetch_offsets(version: int, group: str, topic: Topic) -> Message:
    return fetch(version, group, [(topic, [0])])


def delete_offsets(_version: int, group: str, topic: Topic) -> Message:
    partitions = [OffsetDeleteRequestPartition(0)]
    return OffsetDeleteRequest(group, [OffsetDeleteRequestTopic(topic.name, partitions)])


def stranger(key: str) -> Producer:
    return Producer(key, UNKNOWN, 0)


GROUPS: dict[ApiKey, Of] = {
    ApiKey.JOIN_GROUP: lambda _, group, __: join_request(group, "stranger"),
    ApiKey.SYNC_GROUP: lambda _, group, __: SyncGroupRequest(group, 1, "m"),
    ApiKey.HEARTBEAT: lambda _, group, __: HeartbeatRequest(group, 1, "m"),
    ApiKey.LEAVE_GROUP: leave,
    ApiKey.OFFSET_COMMIT: lambda _, group, topic: commit(group, (topic, [(0, 5, -1, "")])),
    ApiKey.OFFSET_FETCH: fetch_offsets,
    ApiKey.OFFSET_DELETE: delete_offsets,
    ApiKey.DESCRIBE_GROUPS: lambda _, group, __: DescribeGroupsRequest([group], False),
    ApiKey.CONSUMER_GROUP_DESCRIBE: lambda _, group, __: ConsumerGroupDescribeRequest([group]),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: lambda _, group, topic: joining(group, ALICE, topic.name),
    ApiKey.DELETE_GROUPS: lambda _, group, __: DeleteGroupsRequest([group]),
}
TRANSACTIONS: dict[ApiKey, Of] = {
    ApiKey.INIT_PRODUCER_ID: lambda _, key, __: init(key),
    ApiKey.ADD_PARTITIONS_TO_TXN: lambda version, key, topic: add_partitions(
        stranger(key), (topic.name, [0, 1, 2]), version=version
    ),
    ApiKey.ADD_OFFSETS_TO_TXN: lambda _, key, __: add_offsets(stranger(key), "group"),
    ApiKey.END_TXN: lambda _, key, __: end(stranger(key), is_commit=True),
    ApiKey.DESCRIBE_TRANSACTIONS: lambda _, key, __: DescribeTransactionsRequest([key]),
}


def asking(request_of: Of, *, is_of_group: bool) -> Callable[[ClusterSession], Iterator[None]]:
    """A script that asks every broker about a key of each."""

    def script(session: ClusterSession) -> Iterator[None]:
        topic = session.placed("t", [1], [2], [3])
        key_on = session.group_on if is_of_group else session.transaction_on

        def ask(name: str, when: str) -> None:
            for broker_id in BROKERS:
                key = key_on(broker_id, f"{name}-{broker_id}")
                label = f"of {broker_id}{when}"
                session.everywhere(label, request_of(session.version, key, topic))

        ask("of", "")
        yield
        ask("later-of", ", 3 stopped")  # members of the first may be gone by now

    return script


for key, request_of in GROUPS.items():
    add_cluster_script(key.name.lower(), key, asking(request_of, is_of_group=True))
for key, request_of in TRANSACTIONS.items():
    add_cluster_script(key.name.lower(), key, asking(request_of, is_of_group=False))


@cluster_script(ApiKey.TXN_OFFSET_COMMIT)
def txn_offset_commit(session: ClusterSession) -> None:
    topic = session.placed("t", [1], [2], [3])
    for broker_id in BROKERS:
        group, producer = session.group_on(broker_id, "g"), stranger(session.name("p"))
        request = commit_offsets(producer, group, (topic.name, [(0, 5, -1, "")]))
        session.everywhere(f"group of {broker_id}", request)


@cluster_script(ApiKey.LIST_GROUPS)
def list_groups(session: ClusterSession) -> Iterator[None]:
    """Each broker lists the groups that it coordinates."""
    topic = session.placed("t", [1])
    for broker_id in BROKERS:
        with session.at(broker_id):
            store(
                session, session.group_on(broker_id, f"of-{broker_id}"), (topic, [(0, 1, -1, "")])
            )

    def own(answer: Any) -> Any:
        out = copy(answer)
        prefix = session.name("")
        out.groups = [each for each in answer.groups if each.group_id.startswith(prefix)]
        return out

    session.everywhere("all", ListGroupsRequest(), shown=own)
    yield
    session.everywhere("3 stopped", ListGroupsRequest(), shown=own)


@cluster_script(ApiKey.LIST_TRANSACTIONS)
def list_transactions(session: ClusterSession) -> Iterator[None]:
    for broker_id in BROKERS:
        key = session.transaction_on(broker_id, f"of-{broker_id}")
        with session.at(broker_id):
            answer = session.once_ready(init(key), 4)
        session.names.define("producer", answer.producer_id, f"of-{broker_id}")

    def own(answer: Any) -> Any:
        out = copy(answer)
        prefix = session.name("")
        out.transaction_states = [
            each for each in answer.transaction_states if each.transactional_id.startswith(prefix)
        ]
        return out

    session.everywhere("all", ListTransactionsRequest(), shown=own)
    yield
    session.everywhere("3 stopped", ListTransactionsRequest(), shown=own)
