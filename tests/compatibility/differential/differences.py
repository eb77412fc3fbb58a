"""Where our answers differ from Apache Kafka's on purpose: API, case, field, reason.

`docs/reference/differences.md` is made from this table; the comparison fails when an entry is no
longer true. What is not listed must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.compatibility.differential.allowed import Allowed

from ottla.handlers.serving.served_apis import ANNOUNCED, SERVED
from ottla.protocol.api_keys import APIS, ApiKey

TWICE = "A thing that is named twice is served and answered each time; Kafka keeps the last one."
NO_PARTITIONS = "A topic named without partitions is named in the answer; Kafka leaves it out."
IN_NO_TIME = "We answer with what was done, Kafka that it was not done within no time at all."
NOT_A_NUMBER = "Not a number is no number: Kafka takes it, and then compares with it."
UNNAMED = "Kafka answers nonsense with an unknown server error; we say what is wrong."
RECORD_ERRORS = (
    "The first record that cannot be read is named; Kafka names those alone whose keys or times are"
    " wrong, also where they are compressed."
)
CLOSED_BODIES = (
    "Compressed records are opened only where they have to be (compacted topics, recompression,"
    " searches by time): a damaged body is stored as it came, and detected by its consumers."
)
DAMAGED_BODIES = (
    "A compressed body that cannot be opened is called corrupt; Kafka has no name for it."
)
LEFTOVERS = "Bytes behind the batch are refused with it; Kafka drops them silently where it can."
RESERVED = "What only brokers may set is refused; Kafka clears it, or stores it."

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
        "Records must be numbered without gaps and have lengths that mean something; Kafka takes"
        " and renumbers them.",
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
        "A negative size is read as zero, so that one batch is sent; Kafka has an unknown server"
        " error.",
        script="fetch_records",
    ),
    Allowed(
        ApiKey.FETCH, "isolation 2*|isolation -1*", "*",
        "An isolation level that does not exist is read as uncommitted; Kafka has an unknown server"
        " error.",
        script="fetch_records",
    ),
)  # fmt: skip

OFFSETS = (
    Allowed(
        ApiKey.LIST_OFFSETS, "5 ms|10 ms", "*",
        "A search by time continues after the segment in which the log begins; Kafka looks no"
        " further once a deleted record there is young enough.",
        script="list_offsets_after_deletion",
    ),
    Allowed(
        ApiKey.LIST_OFFSETS, "isolation 2|isolation -1", "*",
        "An isolation level that does not exist is read as uncommitted; Kafka has an unknown server"
        " error.",
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
        why = "about a quorum that cannot grow" if key in QUORUM else "not served yet"
        if key in SERVED:
            why = "answered, and announced once there is something behind it"
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
        "Features that we do not have.", range(3, 5), "api_versions",
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
        "We create before we answer, and tell what came of it; Kafka creates afterwards.",
        script="metadata_makes_topics",
    ),
    Allowed(ApiKey.DESCRIBE_TOPIC_PARTITIONS, "topic ''", "*", UNNAMED),
    Allowed(
        ApiKey.DESCRIBE_QUORUM, "the metadata log", "nodes*.name",
        "The controller has no listener of its own: it is asked where the broker is.",
        range(2, 3),
    ),
)  # fmt: skip

TOPICS = (
    Allowed(
        ApiKey.CREATE_TOPICS, "two that collide", "*",
        "Two names that differ in '.' and '_' alone collide in one request as they do in two.",
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

OWN_LOGGERS = "The loggers are our own; what can be done with them is the same."
NOT_CORDONED = "New partitions cannot be kept away from a log directory: the setting is rejected."

SETTINGS = (
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "kind 8, name '1'|kind 8, name '01'|kind 8, name '+1'", "*",
        OWN_LOGGERS, script="describe_configs",
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "broker, some|broker, all", "*node.id",
        "A broker has a number of its own without being told one.",
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "group, all", "*configs.s*",
        "Settings of groups that we do not serve.",
        script="describe_configs", only_kafkas=True,
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "good and bad", "*",
        "A kind of resource that does not exist is refused alone; Kafka refuses the whole request.",
        script="describe_configs",
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "broker, all", "*configs.*",
        "Settings that have no meaning here are not told.",
        script="describe_broker_configs", only_kafkas=True,
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "broker, all",
        "*.group.coordinator.rebalance.protocols|*.group.initial.rebalance.delay.ms"
        "|*.listener.security.protocol.map|*.listeners|*.log.dir|*.max.connections"
        "|*.queued.max.request.bytes|*.offsets.topic.replication.factor"
        "|*.transaction.state.log.min.isr|*.transaction.state.log.replication.factor"
        "|*.ottla.*",
        "Other defaults, for a broker that may be alone and is one process; listeners are fixed"
        " while it runs.",
        script="describe_broker_configs",
    ),
    Allowed(
        ApiKey.DESCRIBE_CONFIGS, "broker, all",
        "*.socket.send.buffer.bytes|*.socket.receive.buffer.bytes",
        "A larger send buffer, and a receive buffer that the system fits to each client: faster.",
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
        "What no topic may have cannot be the default of all of them; Kafka takes it, and cannot"
        " read the settings of any topic after that.",
        script="alter_broker_configs",
    ),
    Allowed(ApiKey.ALTER_CONFIGS, "*NaN*", "*", NOT_A_NUMBER),
    Allowed(ApiKey.ALTER_CLIENT_QUOTAS, "* = nan", "*error_code", NOT_A_NUMBER),
    Allowed(
        ApiKey.ALTER_CLIENT_QUOTAS, "*ip=localhost", "*error_code",
        "An address is a number; Kafka asks the name service, and stores the name.",
    ),
)  # fmt: skip

GROUPS = (
    Allowed(
        ApiKey.JOIN_GROUP, "a protocol twice", "*",
        "A protocol that is offered twice counts once; Kafka has an unknown server error.",
        script="join_group",
    ),
    Allowed(
        ApiKey.CONSUMER_GROUP_HEARTBEAT, "*", "heartbeat_interval_ms",
        "Members that wait for each other are asked to come back within a second.",
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
        "What is pushed must be metrics; Kafka looks at it where a plugin takes it.",
    ),
)  # fmt: skip

ALLOWED = (
    *PRODUCE, *FETCH, *OFFSETS, *CONNECTIONS, *CLUSTER, *TOPICS, *SETTINGS, *GROUPS, *TRANSACTIONS,
    *TELEMETRY,
)  # fmt: skip
