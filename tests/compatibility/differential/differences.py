"""Where our answers differ from Apache Kafka's on purpose: API, case, field, reason.

`docs/reference/differences.md` is made from this table; the comparison fails when an entry is no
longer true. What is not listed must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.compatibility.differential.allowed import Allowed

from ottla.handlers.serving.served_apis import ANNOUNCED, SERVED
from ottla.protocol.api_keys import APIS, ApiKey

TWICE = "A duplicate entry is served and answered each time; Kafka keeps only the last one."
NO_PARTITIONS = "A topic without partitions is in the response; Kafka omits it."
IN_NO_TIME = (
    "Without time to wait (a timeout of 0 or less) the response still has the result; Kafka "
    "answers REQUEST_TIMED_OUT."
)
NOT_A_NUMBER = "NaN is refused; Kafka stores it, and then compares numbers with it."
UNNAMED = "An invalid value has a specific error; Kafka answers UNKNOWN_SERVER_ERROR."
RECORD_ERRORS = (
    "The first record that cannot be read is named; Kafka names only records whose keys or "
    "times are wrong, also in compressed batches."
)
CLOSED_BODIES = (
    "Compressed records are decompressed only where it is necessary (compacted topics, "
    "recompression, searches by time): a damaged body is stored unchanged, and detected by "
    "its consumers."
)
DAMAGED_BODIES = (
    "A body that cannot be decompressed has the error CORRUPT_MESSAGE; Kafka answers "
    "UNKNOWN_SERVER_ERROR."
)
LEFTOVERS = (
    "A batch with bytes after its end is refused; Kafka drops those bytes silently where it can."
)
RESERVED = "Attributes that only brokers may set are refused; Kafka clears or stores them."

PRODUCE = (
    Allowed(
        ApiKey.PRODUCE, "*", "*record_errors*", RECORD_ERRORS, range(8, 14),
        "produce_bad*|produce_with*",
    ),
    Allowed(
        ApiKey.PRODUCE,
        "not what codec * makes|codec * cut off|codec *, count *|codec 4 with more behind it",
        "*error_code|*base_offset", CLOSED_BODIES, None, "produce_bad_batches",
    ),
    Allowed(
        ApiKey.PRODUCE,
        "not what codec * makes|codec * cut off|codec * with more behind it",
        "*error_code|*base_offset|*log_start_offset", DAMAGED_BODIES, None,
        "produce_bad_batches_to_compacted",
    ),
    Allowed(
        ApiKey.PRODUCE,
        "one byte too many|twenty bytes too many|a good one and a cut-off one|length 49",
        "*error_code|*base_offset|*log_start_offset", LEFTOVERS,
        script="produce_bad*",
    ),
    Allowed(
        ApiKey.PRODUCE, "length 2147483647|codec 5|codec 6|codec 7",
        "*error_code|*log_start_offset", UNNAMED, script="produce_bad*",
    ),
    Allowed(
        ApiKey.PRODUCE, "log append time bit|delete horizon bit", "*error_code|*base_offset",
        RESERVED, script="produce_bad*",
    ),
    Allowed(
        ApiKey.PRODUCE, "record offset delta 1|key length -2", "*error_code|*base_offset",
        "Offset deltas must have no gaps, and lengths must be valid; Kafka accepts the "
        "records and renumbers them.",
        script="produce_bad*",
    ),
    Allowed(
        ApiKey.PRODUCE, "negative epoch|epoch -2|producer -2", "*error_code|*base_offset*",
        "A producer's batch with a negative number in its header is malformed, whatever the"
        " partition knows of the producer.",
        script="produce_idempotently",
    ),
    Allowed(ApiKey.PRODUCE, "*twice|*in two parts", "*", TWICE, script="produce_to_wrong_places"),
    Allowed(ApiKey.PRODUCE, "no partitions", "*", NO_PARTITIONS, script="produce_to_wrong_places"),
)  # fmt: skip

FETCH = (
    Allowed(
        ApiKey.FETCH, "*bytes -*", "*",
        "A negative size is read as zero, so that one batch is sent; Kafka answers "
        "UNKNOWN_SERVER_ERROR.",
        script="fetch_records",
    ),
    Allowed(
        ApiKey.FETCH, "isolation 2*|isolation -1*", "*",
        "An unknown isolation level is read as read_uncommitted; Kafka answers "
        "UNKNOWN_SERVER_ERROR.",
        script="fetch_records",
    ),
)  # fmt: skip

OFFSETS = (
    Allowed(
        ApiKey.LIST_OFFSETS, "5 ms|10 ms", "*",
        "A search by time continues after the segment in which the log begins; Kafka stops "
        "there if a deleted record of that segment has the time or a later one.",
        script="list_offsets_after_deletion",
    ),
    Allowed(
        ApiKey.LIST_OFFSETS, "isolation 2|isolation -1", "*",
        "An unknown isolation level is read as read_uncommitted; Kafka answers "
        "UNKNOWN_SERVER_ERROR.",
        range(2, 12), "list_offsets",
    ),
    Allowed(
        ApiKey.LIST_OFFSETS, "*twice*|*in two parts", "*", TWICE,
        script="list_offsets_of_wrong_places",
    ),
    Allowed(
        ApiKey.LIST_OFFSETS, "no partitions", "*", NO_PARTITIONS,
        script="list_offsets_of_wrong_places",
    ),
    Allowed(ApiKey.DELETE_RECORDS, "*twice", "*", TWICE),
    Allowed(ApiKey.DELETE_RECORDS, "no partitions", "*", NO_PARTITIONS),
)  # fmt: skip

# Announced only if a receiver of telemetry is configured, by Kafka and by us.
WITH_PLUGINS = (ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY)
QUORUM = (ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER)


def unannounced() -> Iterator[Allowed]:
    """What Kafka announces and we do not."""
    for key, api in APIS.items():
        if key in ANNOUNCED or key in WITH_PLUGINS or not api.on_broker:
            continue
        why = "there is no quorum of controllers to change" if key in QUORUM else "not served yet"
        if key in SERVED:
            why = "answered, but not announced until it is implemented"
        field, reason = f"api_keys[{int(key)}]*", f"{api.name}: {why}."
        yield Allowed(ApiKey.API_VERSIONS, "usual", field, reason, script="api_versions")


CONNECTIONS = (
    Allowed(
        ApiKey.API_VERSIONS, "usual", "api_keys.length",
        "Other APIs, see the other entries about them.", script="api_versions",
    ),
    *unannounced(),
    Allowed(
        ApiKey.API_VERSIONS, "usual",
        "*features.length|*features[streams.version]*|*features[share.version]*"
        "|*features[kraft.version]*",
        "Features that Ottla does not have.", range(3, 5), "api_versions",
    ),
    Allowed(
        ApiKey.API_VERSIONS, "usual", "supported_features[eligible.leader.replicas.version]*",
        "Eligible leader replicas cannot be switched off.", range(3, 5), "api_versions",
    ),
    Allowed(
        ApiKey.API_VERSIONS, "client id of -2|Metadata v1 with a count of -2", "",
        "A length below -1 closes the connection; Kafka reads it as null.", script="frames",
    ),
)  # fmt: skip

CLUSTER = (
    Allowed(ApiKey.METADATA, "no name, no id", "*", UNNAMED, range(12, 14), "metadata"),
    Allowed(
        ApiKey.METADATA, "in small and large letters", "*error_code",
        "Topics are created before the response, which has the result; Kafka creates them "
        "afterwards.",
        script="metadata_makes_topics",
    ),
    Allowed(ApiKey.DESCRIBE_TOPIC_PARTITIONS, "topic ''", "*", UNNAMED),
    Allowed(
        ApiKey.DESCRIBE_QUORUM, "the metadata log", "nodes*.name",
        "The controller has no separate listener: it has the address of its broker.",
        range(2, 3),
    ),
)  # fmt: skip

TOPICS = (
    Allowed(
        ApiKey.CREATE_TOPICS, "two that collide", "*",
        "Names that differ only in '.' and '_' collide also within one request.",
        script="create_topics",
    ),
    Allowed(ApiKey.CREATE_TOPICS, "timeout *", "*", IN_NO_TIME, script="create_topics"),
    Allowed(ApiKey.CREATE_TOPICS, "*NaN*", "*", NOT_A_NUMBER, script="create_topics_with_settings"),
    Allowed(ApiKey.DELETE_TOPICS, "timeout *", "*", IN_NO_TIME),
    Allowed(
        ApiKey.DELETE_TOPICS, "neither, twice", "*",
        "Identical errors are reported once.", range(6, 7),
    ),
    Allowed(ApiKey.CREATE_PARTITIONS, "timeout *", "*", IN_NO_TIME),
    Allowed(ApiKey.CREATE_PARTITIONS, "to 2147483647 again", "*error_code", UNNAMED),
)  # fmt: skip

OWN_LOGGERS = "The names of the loggers differ; the operations are the same."
NOT_CORDONED = "A log directory cannot be cordoned: the setting is rejected."

SETTINGS = (
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "kind 8, name '1'|kind 8, name '01'|kind 8, name '+1'", "*",
        OWN_LOGGERS, script="describe_configs",
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "broker, some|broker, all", "*node.id",
        "A broker has an id even if none is configured.",
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "group, all", "*configs.s*",
        "Settings of kinds of groups that are not served.",
        script="describe_configs", only_kafkas=True,
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "good and bad", "*",
        "An unknown kind of resource has an error of its own; Kafka refuses the whole request.",
        script="describe_configs",
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "broker, all", "*configs.*",
        "Settings without a meaning in Ottla are not described.",
        script="describe_broker_configs", only_kafkas=True,
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "broker, all",
        "*.group.coordinator.rebalance.protocols|*.group.initial.rebalance.delay.ms"
        "|*.listener.security.protocol.map|*.listeners|*.log.dir|*.max.connections"
        "|*.queued.max.request.bytes|*.offsets.topic.replication.factor"
        "|*.transaction.state.log.min.isr|*.transaction.state.log.replication.factor"
        "|*.ottla.*",
        "Other defaults, for a broker that may be the only one and is one process; listeners "
        "cannot be changed while it runs.",
        script="describe_broker_configs",
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "broker, all",
        "*.socket.send.buffer.bytes|*.socket.receive.buffer.bytes",
        "A larger send buffer, and a receive buffer whose size the operating system adapts to"
        " each client: faster.",
        script="describe_broker_configs",
    ),
    Allowed(ApiKey.INCREMENTAL_ALTER_CONFIGS, "*NaN*", "*", NOT_A_NUMBER, script="incremental*"),
    Allowed(
        ApiKey.INCREMENTAL_ALTER_CONFIGS, "operation *", "*error_code", UNNAMED,
        script="incremental*",
    ),
    Allowed(
        ApiKey.INCREMENTAL_ALTER_CONFIGS, "dry: cordoned*", "*error_code", NOT_CORDONED,
        script="alter_broker_configs",
    ),
    Allowed(
        ApiKey.INCREMENTAL_ALTER_CONFIGS, "dry: log.flush.interval.ms = '-1'*", "*error_code",
        "A value that is invalid for a topic is also invalid as the default of topics; Kafka "
        "accepts it, and then cannot read the settings of any topic.",
        script="alter_broker_configs",
    ),
    Allowed(ApiKey.ALTER_CONFIGS, "*NaN*", "*", NOT_A_NUMBER),
    Allowed(ApiKey.ALTER_CLIENT_QUOTAS, "* = nan", "*error_code", NOT_A_NUMBER),
    Allowed(
        ApiKey.ALTER_CLIENT_QUOTAS, "*ip=localhost", "*error_code",
        "Only IP addresses are accepted; Kafka also resolves host names, and stores the name.",
    ),
)  # fmt: skip

GROUPS = (
    Allowed(
        ApiKey.JOIN_GROUP, "a protocol twice", "*",
        "A duplicate protocol counts once; Kafka answers UNKNOWN_SERVER_ERROR.",
        script="join_group",
    ),
    Allowed(
        ApiKey.CONSUMER_GROUP_HEARTBEAT, "*", "heartbeat_interval_ms",
        "Members that wait for partitions of others get a heartbeat interval of at most one "
        "second.",
        script="consumer_group_heartbeat|consumer_group_of_two",
    ),
)  # fmt: skip

TRANSACTIONS = (
    Allowed(ApiKey.WRITE_TXN_MARKERS, "no topics|no partitions", "*", NO_PARTITIONS),
    Allowed(ApiKey.WRITE_TXN_MARKERS, "a marker twice", "*", TWICE),
    Allowed(ApiKey.WRITE_TXN_MARKERS, "older epoch|nobody", "*error_code", UNNAMED),
    Allowed(
        ApiKey.ADD_PARTITIONS_TO_TXN, "a transaction twice", "*", TWICE, range(4, 6),
        "add_partitions_to_several_txns",
    ),
)  # fmt: skip

TELEMETRY = (
    Allowed(
        ApiKey.PUSH_TELEMETRY, "not metrics", "*",
        "The payload must be metrics; Kafka checks it only if a plugin receives it.",
    ),
)  # fmt: skip

ALLOWED = (
    *PRODUCE, *FETCH, *OFFSETS, *CONNECTIONS, *CLUSTER, *TOPICS, *SETTINGS, *GROUPS, *TRANSACTIONS,
    *TELEMETRY,
)  # fmt: skip
