"""The record types of `__consumer_offsets`, and the written versions of their values.

Records of share groups (10 to 15) and streams groups (17 to 23) are skipped when a log is read.
"""

from __future__ import annotations

from ottla.coordinators.groups.consumer.kinds import (
    CurrentKey,
    CurrentValue,
    GroupKey,
    GroupValue,
    MemberKey,
    MemberValue,
    PartitionMetadataKey,
    RegexKey,
    RegexValue,
    TargetEpochKey,
    TargetEpochValue,
    TargetKey,
    TargetValue,
)
from ottla.coordinators.records import CoordinatorRecord, RecordType, RecordTypes
from ottla.metadata import topic_names
from ottla.protocol.message import Message
from ottla.protocol.messages.consumer_group_partition_metadata_value import (
    ConsumerGroupPartitionMetadataValue,
)
from ottla.protocol.messages.group_metadata_key import GroupMetadataKey
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue
from ottla.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from ottla.protocol.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from ottla.protocol.messages.offset_commit_key import OffsetCommitKey
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue

OFFSETS_TOPIC = topic_names.GROUP_OFFSETS

OFFSET_VALUE_VERSION = 4
EXPIRING_OFFSET_VALUE_VERSION = 1  # the only version with an expiration time
GROUP_VALUE_VERSION = 3

GROUP_RECORDS: RecordTypes = {
    0: RecordType(LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    1: RecordType(OffsetCommitKey, OffsetCommitValue),
    2: RecordType(GroupMetadataKey, GroupMetadataValue),
    3: RecordType(GroupKey, GroupValue),
    # Written by Kafka 4.0; replaced by the hash in type 3.
    4: RecordType(PartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    5: RecordType(MemberKey, MemberValue),
    6: RecordType(TargetEpochKey, TargetEpochValue),
    7: RecordType(TargetKey, TargetValue),
    8: RecordType(CurrentKey, CurrentValue),
    16: RecordType(RegexKey, RegexValue),
}


def tombstone(key: Message) -> CoordinatorRecord:
    """The record that deletes the key."""
    return CoordinatorRecord(key, None)
