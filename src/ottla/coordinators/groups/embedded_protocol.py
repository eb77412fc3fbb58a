"""The consumer protocol inside the opaque bytes of the classic protocol: subscription, assignment.

Two bytes of version, followed by the message. Later versions only append fields, so a newer version
is read up to the known fields.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping

from ottla.protocol.errors import MalformedMessage
from ottla.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from ottla.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from ottla.protocol.primitives import read_count, read_string, read_view

CONSUMER_PROTOCOL = "consumer"
STRING_BYTES_MIN = 2
_SUBSCRIPTION_LATEST = ConsumerProtocolSubscription.VERSIONS[-1]
_ASSIGNMENT_LATEST = ConsumerProtocolAssignment.VERSIONS[-1]


def embedded_version(data: bytes) -> int:
    if len(data) < 2:
        raise MalformedMessage(f"{len(data)} bytes of consumer protocol, no room for a version")
    version = int.from_bytes(data[:2], "big", signed=True)
    if version < 0:
        raise MalformedMessage(f"consumer protocol version {version}")
    return version


def decode_subscription(data: bytes, items_max: int) -> ConsumerProtocolSubscription:
    version = min(embedded_version(data), _SUBSCRIPTION_LATEST)
    return ConsumerProtocolSubscription.decode_bounded(data, version, 2, items_max)[0]


def iterate_subscribed_topics(data: bytes) -> Iterator[str]:
    """The topics, which come first in every version, one by one: there may be many."""
    embedded_version(data)
    view = memoryview(data)
    try:
        count, at = read_count(view, 2, STRING_BYTES_MIN)
        for _ in range(count):
            topic, at = read_string(view, at)
            yield topic
        read_view(view, at)  # the remaining fields must be valid too
    except struct.error as error:
        raise MalformedMessage(f"a subscription that ends too early: {error}") from error


def decode_assignment(data: bytes) -> ConsumerProtocolAssignment:
    version = min(embedded_version(data), _ASSIGNMENT_LATEST)
    return ConsumerProtocolAssignment.decode_prefix(data, version, 2)[0]


def encode_assignment(partitions: Mapping[str, Iterable[int]], version: int) -> bytes:
    """The encoded assignment in the version of the member's subscription."""
    topics = [TopicPartition(topic, sorted(each)) for topic, each in sorted(partitions.items())]
    message = ConsumerProtocolAssignment(topics)
    return message.encode_prefixed(min(version, _ASSIGNMENT_LATEST))
