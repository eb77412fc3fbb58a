"""Short aliases for the generated record classes of consumer groups."""

from __future__ import annotations

from ottla.protocol.messages.consumer_group_current_member_assignment_key import (
    ConsumerGroupCurrentMemberAssignmentKey as CurrentKey,
)
from ottla.protocol.messages.consumer_group_current_member_assignment_value import (
    ConsumerGroupCurrentMemberAssignmentValue as CurrentValue,
)
from ottla.protocol.messages.consumer_group_member_metadata_key import (
    ConsumerGroupMemberMetadataKey as MemberKey,
)
from ottla.protocol.messages.consumer_group_member_metadata_value import (
    ClassicMemberMetadata,
    ClassicProtocol,
)
from ottla.protocol.messages.consumer_group_member_metadata_value import (
    ConsumerGroupMemberMetadataValue as MemberValue,
)
from ottla.protocol.messages.consumer_group_metadata_key import (
    ConsumerGroupMetadataKey as GroupKey,
)
from ottla.protocol.messages.consumer_group_metadata_value import (
    ConsumerGroupMetadataValue as GroupValue,
)
from ottla.protocol.messages.consumer_group_partition_metadata_key import (
    ConsumerGroupPartitionMetadataKey as PartitionMetadataKey,
)
from ottla.protocol.messages.consumer_group_regular_expression_key import (
    ConsumerGroupRegularExpressionKey as RegexKey,
)
from ottla.protocol.messages.consumer_group_regular_expression_value import (
    ConsumerGroupRegularExpressionValue as RegexValue,
)
from ottla.protocol.messages.consumer_group_target_assignment_member_key import (
    ConsumerGroupTargetAssignmentMemberKey as TargetKey,
)
from ottla.protocol.messages.consumer_group_target_assignment_member_value import (
    ConsumerGroupTargetAssignmentMemberValue as TargetValue,
)
from ottla.protocol.messages.consumer_group_target_assignment_member_value import TopicPartition
from ottla.protocol.messages.consumer_group_target_assignment_metadata_key import (
    ConsumerGroupTargetAssignmentMetadataKey as TargetEpochKey,
)
from ottla.protocol.messages.consumer_group_target_assignment_metadata_value import (
    ConsumerGroupTargetAssignmentMetadataValue as TargetEpochValue,
)

ConsumerKey = (
    GroupKey | MemberKey | TargetEpochKey | TargetKey | CurrentKey | RegexKey | PartitionMetadataKey
)

__all__ = [
    "ClassicMemberMetadata",
    "ClassicProtocol",
    "ConsumerKey",
    "CurrentKey",
    "CurrentValue",
    "GroupKey",
    "GroupValue",
    "MemberKey",
    "MemberValue",
    "PartitionMetadataKey",
    "RegexKey",
    "RegexValue",
    "TargetEpochKey",
    "TargetEpochValue",
    "TargetKey",
    "TargetValue",
    "TopicPartition",
]
