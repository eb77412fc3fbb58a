"""Whether an error of a Fetch request is retriable.

Promises  an error that is not retriable is raised, with topic-partition, offset and broker; a
          retriable one is returned.
Leaves    waiting and retrying to `fetcher.py`.
"""

from __future__ import annotations

import logging
import time

from ottla.client.admin.list_offsets import earliest_offsets, latest_offsets
from ottla.client.admin.topics import topic_configs
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Reaction, reaction_to
from ottla.client.errors import ClientError, OffsetOutOfRange, kafka_error
from ottla.client.fetching.fetched_records import is_gap, waiting_for
from ottla.client.fetching.read_position import ReadPosition
from ottla.client.settings import READ_UNCOMMITTED
from ottla.protocol.error_codes import ErrorCode

log = logging.getLogger(__name__)


def check_topic(cluster: Cluster, position: ReadPosition) -> None:
    """TopicRecreated if the name belongs to another topic by now."""
    topic = position.partition.topic
    cluster.check_topic_id(topic, position.topic_id)
    known = cluster.topology.topics.get(topic)
    if known is not None:
        position.of_topic(known.topic_id)


def classify_error(cluster: Cluster, position: ReadPosition, code: ErrorCode) -> ClientError:
    if code == ErrorCode.OFFSET_OUT_OF_RANGE:
        return _classify_out_of_range(cluster, position)
    leader = cluster.leader_address(position.partition)
    where = f"Fetch of {position.partition} at offset {position.offset} from {leader}"
    error = kafka_error(code, where)
    if reaction_to(code) is Reaction.FAIL:
        raise error
    return error


def _classify_out_of_range(cluster: Cluster, position: ReadPosition) -> ClientError:
    at = position.partition
    start = earliest_offsets(cluster, [at])[at]
    end = latest_offsets(cluster, [at], READ_UNCOMMITTED)[at]
    check_topic(cluster, position)
    error = OffsetOutOfRange(at.topic, at.partition, position.offset, start, end)
    if start <= position.offset <= end:
        return error  # the leader has just changed, and the old one did not have the newest records
    raise error


def is_empty_to_end(cluster: Cluster, position: ReadPosition) -> bool:
    """Whether there is no record up to the end. An apparent gap may also be a broker that does not
    deliver records, for a short time or permanently."""
    silent_s = position.silent_s(time.monotonic())
    topic = position.partition.topic
    configs = topic_configs(cluster, [topic])[topic]
    if not is_gap(configs, silent_s):
        return False
    if not is_gap(configs, 0):
        log.warning("%s: assumed to have been compacted", waiting_for(position))
    return True
