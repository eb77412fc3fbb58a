"""Whether a group gives each partition to one member at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ottla.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment

VERSION_BYTES = 2


def shared_partitions(assignments: Mapping[str, bytes]) -> list[str]:
    """`assignments` are those of the members of one generation, as the coordinator describes them;
    each partition that several members have, with these."""
    owners: defaultdict[str, list[str]] = defaultdict(list)
    for member, data in assignments.items():
        for key in keys_of(data):
            owners[key].append(member)
    return [f"{key} of {members}" for key, members in owners.items() if len(members) > 1]


def keys_of(assignment: bytes) -> list[str]:
    if len(assignment) <= VERSION_BYTES:
        return []  # it has nothing yet
    version = int.from_bytes(assignment[:VERSION_BYTES], "big")
    known = min(version, ConsumerProtocolAssignment.VERSIONS[-1])
    found, _ = ConsumerProtocolAssignment.decode_prefix(assignment, known, VERSION_BYTES)
    return [
        f"{topic.topic}-{each}" for topic in found.assigned_partitions for each in topic.partitions
    ]
