"""Which records `__consumer_offsets` holds, and the versions of their values that are written.

Share groups (10 to 15) and streams groups (17 to 23) are passed over when a log is read.
"""

from __future__ import annotations

from ottla.coordinators.records import CoordinatorRecord, RecordType, RecordTypes
from ottla.metadata import topic_names
from ottla.protocol.message import Message
from ottla.protocol.messages.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from ottla.protocol.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue,
)
from ottla.protocol.messages.consumer_group_member_metadata_key import (
    ConsumerGroupMemberMetadataKey,
)
from ottla.protocol.messages.consumer_group_member_metadata_value import (
    ConsumerGroupMemberMetadataValue,
)
from ottla.protocol.messages.consumer_group_metadata_key import ConsumerGroupMetadataKey
from ottla.protocol.messages.consumer_group_metadata_value import ConsumerGroupMetadataValue
from ottla.protocol.messages.consumer_group_partition_metadata_key import (
    ConsumerGroupPartitionMetadataKey,
)
from ottla.protocol.messages.consumer_group_partition_metadata_value import (
    ConsumerGroupPartitionMetadataValue,
)
from ottla.protocol.messages.consumer_group_regular_expression_key import (
    ConsumerGroupRegularExpressionKey,
)
from ottla.protocol.messages.consumer_group_regular_expression_value import (
    ConsumerGroupRegularExpressionValue,
)
from ottla.protocol.messages.consumer_group_target_assignment_member_key import (
    ConsumerGroupTargetAssignmentMemberKey,
)
from ottla.protocol.messages.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue,
)
from ottla.protocol.messages.consumer_group_target_assignment_metadata_key import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from ottla.protocol.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from ottla.protocol.messages.group_metadata_key import GroupMetadataKey
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue
from ottla.protocol.messages.legacy_offset_commit_key import LegacyOffsetCommitKey
from ottla.protocol.messages.legacy_offset_commit_value import LegacyOffsetCommitValue
from ottla.protocol.messages.offset_commit_key import OffsetCommitKey
from ottla.protocol.messages.offset_commit_value import OffsetCommitValue

OFFSETS_TOPIC = topic_names.GROUP_OFFSETS

OFFSET_VALUE_VERSION = 4
EXPIRING_OFFSET_VALUE_VERSION = 1  # the only one with a time of expiry of its own
GROUP_VALUE_VERSION = 3

GROUP_RECORDS: RecordTypes = {
    0: RecordType(LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    1: RecordType(OffsetCommitKey, OffsetCommitValue),
    2: RecordType(GroupMetadataKey, GroupMetadataValue),
    3: RecordType(ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    # What Kafka 4.0 wrote; since then the hash in type 3 stands for it.
    4: RecordType(ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    5: RecordType(ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    6: RecordType(
        ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue
    ),
    7: RecordType(ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    8: RecordType(
        ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue
    ),
    16: RecordType(ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
}


def tombstone(key: Message) -> CoordinatorRecord:
    """The record after which the key is forgotten."""
    return CoordinatorRecord(key, None)
