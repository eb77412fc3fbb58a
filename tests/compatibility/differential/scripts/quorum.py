"""Who votes on the metadata log, and how far it is; brokers that are to be forgotten."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest

METADATA = "__cluster_metadata"


@script(ApiKey.DESCRIBE_QUORUM)
def describe_quorum(session: Session) -> None:
    topic = session.topic("t")

    def ask(label: str, *topics: tuple[str, list[int]]) -> None:
        asked = [TopicData(name, [PartitionData(each) for each in at]) for name, at in topics]
        session.ask(label, DescribeQuorumRequest(asked), shown=without_age)

    ask("the metadata log", (METADATA, [0]))
    ask("nothing")
    ask("no partitions", (METADATA, []))
    for partition in (1, -1, 2**31 - 1):
        ask(f"partition {partition}", (METADATA, [partition]))
    ask("a partition twice", (METADATA, [0, 0]))
    ask("good and bad partition", (METADATA, [0, 1]))
    ask("a topic twice", (METADATA, [0]), (METADATA, [0]))
    ask("good and bad topic", (METADATA, [0]), (topic.name, [0]))
    ask("another topic", (topic.name, [0]))
    ask("unknown topic", (session.name("none"), [0]))
    ask("no name", ("", [0]))
    ask("a topic without partitions", (topic.name, []))


def without_age(answer: Any) -> Any:
    """The length of the log depends on other requests: its end is reported relative to its end."""
    out = deepcopy(answer)
    for partition in (each for topic in out.topics for each in topic.partitions):
        end_offset = partition.high_watermark
        partition.high_watermark = min(end_offset, 1)
        partition.leader_epoch = min(partition.leader_epoch, 1)
        for voter in [*partition.current_voters, *partition.observers]:
            voter.log_end_offset += 1 - end_offset
            assert voter.last_fetch_timestamp == voter.last_caught_up_timestamp
            voter.last_fetch_timestamp = min(voter.last_fetch_timestamp, 1)
            voter.last_caught_up_timestamp = min(voter.last_caught_up_timestamp, 1)
    return out


@script(ApiKey.UNREGISTER_BROKER)
def unregister_broker(session: Session) -> None:
    for broker in (99, 0, -1, -(2**31), 2**31 - 1):
        session.ask(f"broker {broker}", UnregisterBrokerRequest(broker))
