"""Generated from schemas/*.schema: every API, its key and versions. Do not edit."""

from enum import IntEnum
from typing import NamedTuple


class Api(NamedTuple):
    """What is known of an API before its message modules are loaded."""

    name: str
    versions: range
    flexible_from: int | None
    response_flexible_from: int | None
    on_broker: bool
    on_controller: bool
    stable_versions: range

    @property
    def module(self) -> str:
        return MODULES[self.name]


class ApiKey(IntEnum):
    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_COMMIT = 8
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    LEAVE_GROUP = 13
    SYNC_GROUP = 14
    DESCRIBE_GROUPS = 15
    LIST_GROUPS = 16
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    CREATE_TOPICS = 19
    DELETE_TOPICS = 20
    DELETE_RECORDS = 21
    INIT_PRODUCER_ID = 22
    OFFSET_FOR_LEADER_EPOCH = 23
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    WRITE_TXN_MARKERS = 27
    TXN_OFFSET_COMMIT = 28
    DESCRIBE_ACLS = 29
    CREATE_ACLS = 30
    DELETE_ACLS = 31
    DESCRIBE_CONFIGS = 32
    ALTER_CONFIGS = 33
    ALTER_REPLICA_LOG_DIRS = 34
    DESCRIBE_LOG_DIRS = 35
    SASL_AUTHENTICATE = 36
    CREATE_PARTITIONS = 37
    CREATE_DELEGATION_TOKEN = 38
    RENEW_DELEGATION_TOKEN = 39
    EXPIRE_DELEGATION_TOKEN = 40
    DESCRIBE_DELEGATION_TOKEN = 41
    DELETE_GROUPS = 42
    ELECT_LEADERS = 43
    INCREMENTAL_ALTER_CONFIGS = 44
    ALTER_PARTITION_REASSIGNMENTS = 45
    LIST_PARTITION_REASSIGNMENTS = 46
    OFFSET_DELETE = 47
    DESCRIBE_CLIENT_QUOTAS = 48
    ALTER_CLIENT_QUOTAS = 49
    DESCRIBE_USER_SCRAM_CREDENTIALS = 50
    ALTER_USER_SCRAM_CREDENTIALS = 51
    VOTE = 52
    BEGIN_QUORUM_EPOCH = 53
    END_QUORUM_EPOCH = 54
    DESCRIBE_QUORUM = 55
    ALTER_PARTITION = 56
    UPDATE_FEATURES = 57
    ENVELOPE = 58
    FETCH_SNAPSHOT = 59
    DESCRIBE_CLUSTER = 60
    DESCRIBE_PRODUCERS = 61
    BROKER_REGISTRATION = 62
    BROKER_HEARTBEAT = 63
    UNREGISTER_BROKER = 64
    DESCRIBE_TRANSACTIONS = 65
    LIST_TRANSACTIONS = 66
    ALLOCATE_PRODUCER_IDS = 67
    CONSUMER_GROUP_HEARTBEAT = 68
    CONSUMER_GROUP_DESCRIBE = 69
    CONTROLLER_REGISTRATION = 70
    GET_TELEMETRY_SUBSCRIPTIONS = 71
    PUSH_TELEMETRY = 72
    ASSIGN_REPLICAS_TO_DIRS = 73
    LIST_CONFIG_RESOURCES = 74
    DESCRIBE_TOPIC_PARTITIONS = 75
    SHARE_GROUP_HEARTBEAT = 76
    SHARE_GROUP_DESCRIBE = 77
    SHARE_FETCH = 78
    SHARE_ACKNOWLEDGE = 79
    ADD_RAFT_VOTER = 80
    REMOVE_RAFT_VOTER = 81
    UPDATE_RAFT_VOTER = 82
    INITIALIZE_SHARE_GROUP_STATE = 83
    READ_SHARE_GROUP_STATE = 84
    WRITE_SHARE_GROUP_STATE = 85
    DELETE_SHARE_GROUP_STATE = 86
    READ_SHARE_GROUP_STATE_SUMMARY = 87
    STREAMS_GROUP_HEARTBEAT = 88
    STREAMS_GROUP_DESCRIBE = 89
    DESCRIBE_SHARE_GROUP_OFFSETS = 90
    ALTER_SHARE_GROUP_OFFSETS = 91
    DELETE_SHARE_GROUP_OFFSETS = 92


APIS: dict[ApiKey, Api] = {
    ApiKey.PRODUCE: Api("Produce", range(3, 14), 9, 9, True, False, range(3, 14)),
    ApiKey.FETCH: Api("Fetch", range(4, 19), 12, 12, True, True, range(4, 19)),
    ApiKey.LIST_OFFSETS: Api("ListOffsets", range(1, 12), 6, 6, True, False, range(1, 12)),
    ApiKey.METADATA: Api("Metadata", range(0, 14), 9, 9, True, False, range(0, 14)),
    ApiKey.OFFSET_COMMIT: Api("OffsetCommit", range(2, 11), 8, 8, True, False, range(2, 11)),
    ApiKey.OFFSET_FETCH: Api("OffsetFetch", range(1, 11), 6, 6, True, False, range(1, 11)),
    ApiKey.FIND_COORDINATOR: Api("FindCoordinator", range(0, 7), 3, 3, True, False, range(0, 7)),
    ApiKey.JOIN_GROUP: Api("JoinGroup", range(0, 10), 6, 6, True, False, range(0, 10)),
    ApiKey.HEARTBEAT: Api("Heartbeat", range(0, 5), 4, 4, True, False, range(0, 5)),
    ApiKey.LEAVE_GROUP: Api("LeaveGroup", range(0, 6), 4, 4, True, False, range(0, 6)),
    ApiKey.SYNC_GROUP: Api("SyncGroup", range(0, 6), 4, 4, True, False, range(0, 6)),
    ApiKey.DESCRIBE_GROUPS: Api("DescribeGroups", range(0, 7), 5, 5, True, False, range(0, 7)),
    ApiKey.LIST_GROUPS: Api("ListGroups", range(0, 6), 3, 3, True, False, range(0, 6)),
    ApiKey.SASL_HANDSHAKE: Api("SaslHandshake", range(0, 2), None, None, True, True, range(0, 2)),
    ApiKey.API_VERSIONS: Api("ApiVersions", range(0, 5), 3, 3, True, True, range(0, 5)),
    ApiKey.CREATE_TOPICS: Api("CreateTopics", range(2, 8), 5, 5, True, True, range(2, 8)),
    ApiKey.DELETE_TOPICS: Api("DeleteTopics", range(1, 7), 4, 4, True, True, range(1, 7)),
    ApiKey.DELETE_RECORDS: Api("DeleteRecords", range(0, 3), 2, 2, True, False, range(0, 3)),
    ApiKey.INIT_PRODUCER_ID: Api("InitProducerId", range(0, 7), 2, 2, True, False, range(0, 6)),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Api("OffsetForLeaderEpoch", range(2, 5), 4, 4, True, False, range(2, 5)),
    ApiKey.ADD_PARTITIONS_TO_TXN: Api("AddPartitionsToTxn", range(0, 6), 3, 3, True, False, range(0, 6)),
    ApiKey.ADD_OFFSETS_TO_TXN: Api("AddOffsetsToTxn", range(0, 5), 3, 3, True, False, range(0, 5)),
    ApiKey.END_TXN: Api("EndTxn", range(0, 6), 3, 3, True, False, range(0, 6)),
    ApiKey.WRITE_TXN_MARKERS: Api("WriteTxnMarkers", range(1, 3), 1, 1, True, False, range(1, 3)),
    ApiKey.TXN_OFFSET_COMMIT: Api("TxnOffsetCommit", range(0, 6), 3, 3, True, False, range(0, 6)),
    ApiKey.DESCRIBE_ACLS: Api("DescribeAcls", range(1, 4), 2, 2, True, True, range(1, 4)),
    ApiKey.CREATE_ACLS: Api("CreateAcls", range(1, 4), 2, 2, True, True, range(1, 4)),
    ApiKey.DELETE_ACLS: Api("DeleteAcls", range(1, 4), 2, 2, True, True, range(1, 4)),
    ApiKey.DESCRIBE_CONFIGS: Api("DescribeConfigs", range(1, 5), 4, 4, True, True, range(1, 5)),
    ApiKey.ALTER_CONFIGS: Api("AlterConfigs", range(0, 3), 2, 2, True, True, range(0, 3)),
    ApiKey.ALTER_REPLICA_LOG_DIRS: Api("AlterReplicaLogDirs", range(1, 3), 2, 2, True, False, range(1, 3)),
    ApiKey.DESCRIBE_LOG_DIRS: Api("DescribeLogDirs", range(1, 6), 2, 2, True, False, range(1, 6)),
    ApiKey.SASL_AUTHENTICATE: Api("SaslAuthenticate", range(0, 3), 2, 2, True, True, range(0, 3)),
    ApiKey.CREATE_PARTITIONS: Api("CreatePartitions", range(0, 4), 2, 2, True, True, range(0, 4)),
    ApiKey.CREATE_DELEGATION_TOKEN: Api("CreateDelegationToken", range(1, 4), 2, 2, True, True, range(1, 4)),
    ApiKey.RENEW_DELEGATION_TOKEN: Api("RenewDelegationToken", range(1, 3), 2, 2, True, True, range(1, 3)),
    ApiKey.EXPIRE_DELEGATION_TOKEN: Api("ExpireDelegationToken", range(1, 3), 2, 2, True, True, range(1, 3)),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: Api("DescribeDelegationToken", range(1, 4), 2, 2, True, True, range(1, 4)),
    ApiKey.DELETE_GROUPS: Api("DeleteGroups", range(0, 3), 2, 2, True, False, range(0, 3)),
    ApiKey.ELECT_LEADERS: Api("ElectLeaders", range(0, 3), 2, 2, True, True, range(0, 3)),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Api("IncrementalAlterConfigs", range(0, 2), 1, 1, True, True, range(0, 2)),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Api("AlterPartitionReassignments", range(0, 2), 0, 0, True, True, range(0, 2)),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Api("ListPartitionReassignments", range(0, 1), 0, 0, True, True, range(0, 1)),
    ApiKey.OFFSET_DELETE: Api("OffsetDelete", range(0, 1), None, None, True, False, range(0, 1)),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: Api("DescribeClientQuotas", range(0, 2), 1, 1, True, False, range(0, 2)),
    ApiKey.ALTER_CLIENT_QUOTAS: Api("AlterClientQuotas", range(0, 2), 1, 1, True, True, range(0, 2)),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Api("DescribeUserScramCredentials", range(0, 1), 0, 0, True, True, range(0, 1)),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: Api("AlterUserScramCredentials", range(0, 1), 0, 0, True, True, range(0, 1)),
    ApiKey.VOTE: Api("Vote", range(0, 3), 0, 0, False, True, range(0, 3)),
    ApiKey.BEGIN_QUORUM_EPOCH: Api("BeginQuorumEpoch", range(0, 2), 1, 1, False, True, range(0, 2)),
    ApiKey.END_QUORUM_EPOCH: Api("EndQuorumEpoch", range(0, 2), 1, 1, False, True, range(0, 2)),
    ApiKey.DESCRIBE_QUORUM: Api("DescribeQuorum", range(0, 3), 0, 0, True, True, range(0, 3)),
    ApiKey.ALTER_PARTITION: Api("AlterPartition", range(2, 4), 2, 2, False, True, range(2, 4)),
    ApiKey.UPDATE_FEATURES: Api("UpdateFeatures", range(0, 3), 0, 0, True, True, range(0, 3)),
    ApiKey.ENVELOPE: Api("Envelope", range(0, 1), 0, 0, False, True, range(0, 1)),
    ApiKey.FETCH_SNAPSHOT: Api("FetchSnapshot", range(0, 2), 0, 0, False, True, range(0, 2)),
    ApiKey.DESCRIBE_CLUSTER: Api("DescribeCluster", range(0, 3), 0, 0, True, True, range(0, 3)),
    ApiKey.DESCRIBE_PRODUCERS: Api("DescribeProducers", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.BROKER_REGISTRATION: Api("BrokerRegistration", range(0, 5), 0, 0, False, True, range(0, 5)),
    ApiKey.BROKER_HEARTBEAT: Api("BrokerHeartbeat", range(0, 3), 0, 0, False, True, range(0, 3)),
    ApiKey.UNREGISTER_BROKER: Api("UnregisterBroker", range(0, 1), 0, 0, True, True, range(0, 1)),
    ApiKey.DESCRIBE_TRANSACTIONS: Api("DescribeTransactions", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.LIST_TRANSACTIONS: Api("ListTransactions", range(0, 3), 0, 0, True, False, range(0, 3)),
    ApiKey.ALLOCATE_PRODUCER_IDS: Api("AllocateProducerIds", range(0, 1), 0, 0, False, True, range(0, 1)),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: Api("ConsumerGroupHeartbeat", range(0, 2), 0, 0, True, False, range(0, 2)),
    ApiKey.CONSUMER_GROUP_DESCRIBE: Api("ConsumerGroupDescribe", range(0, 2), 0, 0, True, False, range(0, 2)),
    ApiKey.CONTROLLER_REGISTRATION: Api("ControllerRegistration", range(0, 1), 0, 0, False, True, range(0, 1)),
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: Api("GetTelemetrySubscriptions", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.PUSH_TELEMETRY: Api("PushTelemetry", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: Api("AssignReplicasToDirs", range(0, 1), 0, 0, False, True, range(0, 1)),
    ApiKey.LIST_CONFIG_RESOURCES: Api("ListConfigResources", range(0, 2), 0, 0, True, False, range(0, 2)),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: Api("DescribeTopicPartitions", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.SHARE_GROUP_HEARTBEAT: Api("ShareGroupHeartbeat", range(1, 2), 1, 1, True, False, range(1, 2)),
    ApiKey.SHARE_GROUP_DESCRIBE: Api("ShareGroupDescribe", range(1, 2), 1, 1, True, False, range(1, 2)),
    ApiKey.SHARE_FETCH: Api("ShareFetch", range(1, 3), 1, 1, True, False, range(1, 3)),
    ApiKey.SHARE_ACKNOWLEDGE: Api("ShareAcknowledge", range(1, 3), 1, 1, True, False, range(1, 3)),
    ApiKey.ADD_RAFT_VOTER: Api("AddRaftVoter", range(0, 2), 0, 0, True, True, range(0, 2)),
    ApiKey.REMOVE_RAFT_VOTER: Api("RemoveRaftVoter", range(0, 1), 0, 0, True, True, range(0, 1)),
    ApiKey.UPDATE_RAFT_VOTER: Api("UpdateRaftVoter", range(0, 1), 0, 0, False, True, range(0, 1)),
    ApiKey.INITIALIZE_SHARE_GROUP_STATE: Api("InitializeShareGroupState", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.READ_SHARE_GROUP_STATE: Api("ReadShareGroupState", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.WRITE_SHARE_GROUP_STATE: Api("WriteShareGroupState", range(0, 2), 0, 0, True, False, range(0, 2)),
    ApiKey.DELETE_SHARE_GROUP_STATE: Api("DeleteShareGroupState", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY: Api("ReadShareGroupStateSummary", range(0, 2), 0, 0, True, False, range(0, 2)),
    ApiKey.STREAMS_GROUP_HEARTBEAT: Api("StreamsGroupHeartbeat", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.STREAMS_GROUP_DESCRIBE: Api("StreamsGroupDescribe", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS: Api("DescribeShareGroupOffsets", range(0, 2), 0, 0, True, False, range(0, 2)),
    ApiKey.ALTER_SHARE_GROUP_OFFSETS: Api("AlterShareGroupOffsets", range(0, 1), 0, 0, True, False, range(0, 1)),
    ApiKey.DELETE_SHARE_GROUP_OFFSETS: Api("DeleteShareGroupOffsets", range(0, 1), 0, 0, True, False, range(0, 1)),
}

MODULES = {
    "Produce": "produce",
    "Fetch": "fetch",
    "ListOffsets": "list_offsets",
    "Metadata": "metadata",
    "OffsetCommit": "offset_commit",
    "OffsetFetch": "offset_fetch",
    "FindCoordinator": "find_coordinator",
    "JoinGroup": "join_group",
    "Heartbeat": "heartbeat",
    "LeaveGroup": "leave_group",
    "SyncGroup": "sync_group",
    "DescribeGroups": "describe_groups",
    "ListGroups": "list_groups",
    "SaslHandshake": "sasl_handshake",
    "ApiVersions": "api_versions",
    "CreateTopics": "create_topics",
    "DeleteTopics": "delete_topics",
    "DeleteRecords": "delete_records",
    "InitProducerId": "init_producer_id",
    "OffsetForLeaderEpoch": "offset_for_leader_epoch",
    "AddPartitionsToTxn": "add_partitions_to_txn",
    "AddOffsetsToTxn": "add_offsets_to_txn",
    "EndTxn": "end_txn",
    "WriteTxnMarkers": "write_txn_markers",
    "TxnOffsetCommit": "txn_offset_commit",
    "DescribeAcls": "describe_acls",
    "CreateAcls": "create_acls",
    "DeleteAcls": "delete_acls",
    "DescribeConfigs": "describe_configs",
    "AlterConfigs": "alter_configs",
    "AlterReplicaLogDirs": "alter_replica_log_dirs",
    "DescribeLogDirs": "describe_log_dirs",
    "SaslAuthenticate": "sasl_authenticate",
    "CreatePartitions": "create_partitions",
    "CreateDelegationToken": "create_delegation_token",
    "RenewDelegationToken": "renew_delegation_token",
    "ExpireDelegationToken": "expire_delegation_token",
    "DescribeDelegationToken": "describe_delegation_token",
    "DeleteGroups": "delete_groups",
    "ElectLeaders": "elect_leaders",
    "IncrementalAlterConfigs": "incremental_alter_configs",
    "AlterPartitionReassignments": "alter_partition_reassignments",
    "ListPartitionReassignments": "list_partition_reassignments",
    "OffsetDelete": "offset_delete",
    "DescribeClientQuotas": "describe_client_quotas",
    "AlterClientQuotas": "alter_client_quotas",
    "DescribeUserScramCredentials": "describe_user_scram_credentials",
    "AlterUserScramCredentials": "alter_user_scram_credentials",
    "Vote": "vote",
    "BeginQuorumEpoch": "begin_quorum_epoch",
    "EndQuorumEpoch": "end_quorum_epoch",
    "DescribeQuorum": "describe_quorum",
    "AlterPartition": "alter_partition",
    "UpdateFeatures": "update_features",
    "Envelope": "envelope",
    "FetchSnapshot": "fetch_snapshot",
    "DescribeCluster": "describe_cluster",
    "DescribeProducers": "describe_producers",
    "BrokerRegistration": "broker_registration",
    "BrokerHeartbeat": "broker_heartbeat",
    "UnregisterBroker": "unregister_broker",
    "DescribeTransactions": "describe_transactions",
    "ListTransactions": "list_transactions",
    "AllocateProducerIds": "allocate_producer_ids",
    "ConsumerGroupHeartbeat": "consumer_group_heartbeat",
    "ConsumerGroupDescribe": "consumer_group_describe",
    "ControllerRegistration": "controller_registration",
    "GetTelemetrySubscriptions": "get_telemetry_subscriptions",
    "PushTelemetry": "push_telemetry",
    "AssignReplicasToDirs": "assign_replicas_to_dirs",
    "ListConfigResources": "list_config_resources",
    "DescribeTopicPartitions": "describe_topic_partitions",
    "ShareGroupHeartbeat": "share_group_heartbeat",
    "ShareGroupDescribe": "share_group_describe",
    "ShareFetch": "share_fetch",
    "ShareAcknowledge": "share_acknowledge",
    "AddRaftVoter": "add_raft_voter",
    "RemoveRaftVoter": "remove_raft_voter",
    "UpdateRaftVoter": "update_raft_voter",
    "InitializeShareGroupState": "initialize_share_group_state",
    "ReadShareGroupState": "read_share_group_state",
    "WriteShareGroupState": "write_share_group_state",
    "DeleteShareGroupState": "delete_share_group_state",
    "ReadShareGroupStateSummary": "read_share_group_state_summary",
    "StreamsGroupHeartbeat": "streams_group_heartbeat",
    "StreamsGroupDescribe": "streams_group_describe",
    "DescribeShareGroupOffsets": "describe_share_group_offsets",
    "AlterShareGroupOffsets": "alter_share_group_offsets",
    "DeleteShareGroupOffsets": "delete_share_group_offsets",
}
