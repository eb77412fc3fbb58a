"""Answers in a form that can be kept as JSON and compared between two brokers.

Owns      which values differ by nature (ids, ports, times) and what is shown instead of them:
          a placeholder that says in which answer a value was first seen.
Promises  what a version cannot carry, or carries as its default, is left out, so that answers in
          versions of different age look alike.
Leaves    which differences are right to `comparing.py` and `allowed.py`.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any

from tests.compatibility.differential.batches import TIME_MS
from tests.compatibility.differential.wire import Nothing, Outcome, Undecodable

from ottla.base.uuids import ZERO_UUID
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Struct
from ottla.protocol.records.batch import HEADER_BYTES, LENGTH_PREFIX_BYTES, read_header

Plain = Any  # what JSON can hold

# Field: the kind of placeholder for its values.
NAMED = {
    "topic_id": "id",
    "producer_id": "producer",
    "session_id": "session",
    "cluster_id": "cluster",
    "member_id": "member",
    "leader": "member",
    "log_dir": "directory",
    "client_instance_id": "instance",
}
# Whether there is something is compared, what it is is not.
MASKED = {
    "host",
    "port",
    "documentation",
    "log_append_time_ms",
    "finalized_features_epoch",
    "total_bytes",
    "usable_bytes",
    "transaction_start_time_ms",
    "subscription_id",
}
# Times: those of records written by scripts are long ago and shown, those of the clock are not.
TIMES = {"last_timestamp"}
CLOCK_FROM_MS = TIME_MS + 86_400_000
# Settings that say where a broker is.
PLACES = {"listeners", "advertised.listeners", "log.dirs", "log.dir", "controller.quorum.voters"}
# The words of an error are each broker's own; where there is no error there must be none.
WORDS = {"error_message", "batch_index_error_message"}
NO_WORDS = (None, "", "NONE")  # the last one is Kafka's own, in FindCoordinator
# Lists whose order Kafka leaves to its hash tables, as message.field.
UNORDERED = {
    "ProduceResponse.responses",
    "TopicProduceResponse.partition_responses",
    "FetchResponse.responses",
    "FetchableTopicResponse.partitions",
    "ListOffsetsResponse.topics",
    "ListOffsetsTopicResponse.partitions",
    "OffsetForLeaderEpochResponse.topics",
    "OffsetForLeaderTopicResult.partitions",
    "MetadataResponse.topics",
    "DeleteRecordsResponse.topics",
    "DeleteRecordsTopicResult.partitions",
    "ListConfigResourcesResponse.config_resources",
    "CreateTopicsResponse.topics",
    "DeleteTopicsResponse.responses",
    "CreatePartitionsResponse.results",
    "DescribeConfigsResponse.results",
    "AlterConfigsResponse.responses",
    "IncrementalAlterConfigsResponse.responses",
    "ElectLeadersResponse.replica_election_results",
    "ReplicaElectionResult.partition_result",
    "AlterPartitionReassignmentsResponse.responses",
    "ReassignableTopicResponse.partitions",
    "AlterClientQuotasResponse.entries",
    "DescribeClientQuotasResponse.entries",
    "EntryData.entity",
    "EntryData.values",
    "DeleteGroupsResponse.results",
    "OffsetCommitResponse.topics",
    "OffsetCommitResponseTopic.partitions",
    "JoinGroupResponse.members",
    "DescribedGroup.members",
    "Assignment.topic_partitions",
    "Member.subscribed_topic_names",
    "ConsumerGroupDescribeResponse.groups",
    "ListGroupsResponse.groups",
    "OffsetFetchResponse.topics",
    "OffsetFetchResponseTopic.partitions",
    "OffsetFetchResponseGroup.topics",
    "OffsetFetchResponseTopics.partitions",
    "OffsetDeleteResponse.topics",
    "OffsetDeleteResponseTopic.partitions",
    "AddPartitionsToTxnResponse.results_by_transaction",
    "AddPartitionsToTxnResponse.results_by_topic_v3_and_below",
    "AddPartitionsToTxnResult.topic_results",
    "AddPartitionsToTxnTopicResult.results_by_partition",
    "TxnOffsetCommitResponse.topics",
    "TxnOffsetCommitResponseTopic.partitions",
    "WriteTxnMarkersResponse.markers",
    "WritableTxnMarkerResult.topics",
    "WritableTxnMarkerTopicResult.partitions",
    "DescribeProducersResponse.topics",
    "TopicResponse.partitions",
    "PartitionResponse.active_producers",
    "TransactionState.topics",
    "TopicData.partitions",
    "ListTransactionsResponse.transaction_states",
    "ListTransactionsResponse.unknown_state_filters",
    "AlterReplicaLogDirsResponse.results",
    "GetTelemetrySubscriptionsResponse.requested_metrics",
    "AlterReplicaLogDirTopicResult.partitions",
    "DescribeLogDirsResult.topics",
    "DescribeLogDirsTopic.partitions",
}
SOMETHING = "*"


class Names:
    """What stands for the values that only one run has: where they were first seen."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix  # of the topics and groups of one run of a script
        self._names: dict[tuple[str, object], str] = {}
        self._aliases: dict[str, str] = {}
        self._place = ""
        self._count = 0

    def begin(self, label: str) -> None:
        """What is new from here on is named after this request."""
        self._place, self._count = label, 0

    def define(self, kind: str, value: object, place: str) -> None:
        self._names[kind, value] = f"<{kind} of {place}>"

    def of(self, kind: str, value: object) -> str:
        name = self._names.get((kind, value))
        if name is None:
            self._count += 1
            number = f" #{self._count}" if self._count > 1 else ""
            name = self._names[kind, value] = f"<{kind} of {self._place}{number}>"
        return name

    def known(self, kind: str, value: object) -> str:
        """For sorting: naming must not depend on an order that means nothing."""
        return self._names.get((kind, value), "")

    def alias(self, name: str, shown: str) -> None:
        """For a name with a part that each run draws again."""
        self._aliases[name] = shown

    def in_text(self, text: str) -> str:
        for name, shown in self._aliases.items():
            text = text.replace(name, shown)
        return text.replace(self._prefix, "~")


def plain_outcome(outcome: Outcome, names: Names) -> Plain:
    if isinstance(outcome, Nothing):
        return outcome.value
    if isinstance(outcome, Undecodable):
        return f"undecodable: {outcome.reason}"
    return plain_struct(outcome, names)


def plain_struct(struct: Struct, names: Names) -> dict[str, Plain]:
    kind = type(struct)
    default = default_of(kind)  # type: ignore[arg-type]  # classes can be hashed, structs not
    return {
        name: plain_value(f"{kind.__name__}.{name}", name, value, names)
        for name, value in struct.items()
        if (list(value) if isinstance(value, tuple) else value) != default[name]
        and not (name in WORDS and (is_error(struct) or value in NO_WORDS))
    }


def is_error(struct: Struct) -> bool:
    return getattr(struct, "error_code", -1) != 0


@cache
def default_of(kind: type[Struct]) -> dict[str, object]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in kind().items()}


def plain_value(place: str, name: str, value: object, names: Names) -> Plain:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, list | tuple):
        return plain_items(place, name, value, names)
    if isinstance(value, Struct):
        return plain_struct(value, names)
    if name.endswith("error_code") and isinstance(value, int):
        return ErrorCode(value).name
    if (name in MASKED and value != "") or (name in TIMES and is_of_the_clock(value)):
        return SOMETHING
    if name == "records" and not isinstance(value, str | int | float):
        return plain_batches(bytes(value), names)  # type: ignore[call-overload]
    if name in NAMED and value not in ("", ZERO_UUID, -1):
        return names.of(NAMED[name], value)
    return plain_scalar(value, names)


def is_of_the_clock(time_ms: object) -> bool:
    return isinstance(time_ms, int) and time_ms > CLOCK_FROM_MS


def plain_scalar(value: object, names: Names) -> Plain:
    if isinstance(value, str):
        return names.in_text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return names.in_text(bytes(value).decode("latin-1"))
    return value


def plain_items(place: str, name: str, items: Any, names: Names) -> Plain:
    if name == "configs":
        return dict(sorted(plain_setting(item, names) for item in items))
    if place in UNORDERED:
        items = sorted(items, key=lambda item: sorting_key(item, names))
    return [plain_value(place, name, item, names) for item in items]


def plain_setting(setting: Any, names: Names) -> tuple[str, str]:
    """Name, and on one line the value, where it comes from, and whatever else there is."""
    reported = plain_struct(setting, names)
    words = [f"{plain_text(setting.name, setting.value, names)} from {setting.config_source}"]
    for name in ("read_only", "is_sensitive", "config_type", "documentation"):
        words += [f"{name} {reported[name]}"] if name in reported else []
    for each in getattr(setting, "synonyms", ()):
        words.append(f"{each.name}={plain_text(each.name, each.value, names)} from {each.source}")
    return setting.name, ", ".join(words)


def plain_text(setting: str, value: str | None, names: Names) -> str:
    if value is None:
        return "null"
    return SOMETHING if setting in PLACES else repr(names.in_text(value))


def sorting_key(item: object, names: Names) -> str:
    if isinstance(item, list | tuple):
        return repr(sorted(sorting_key(each, names) for each in item))
    if not isinstance(item, Struct):
        return repr(item)
    shown = [
        names.known(NAMED[name], value) if name in NAMED else sorting_key(value, names)
        for name, value in item.items()
    ]
    return repr(shown)


def plain_batches(data: bytes, names: Names) -> list[Plain]:
    """Headers field by field, bodies by their bytes; a cut-off batch by its size."""
    shown: list[Plain] = []
    at = 0
    while at < len(data):
        size = LENGTH_PREFIX_BYTES + int.from_bytes(data[at + 8 : at + LENGTH_PREFIX_BYTES], "big")
        if at + max(size, HEADER_BYTES) > len(data):
            return [*shown, f"{len(data) - at} of {size} bytes"]
        shown.append(plain_batch(data[at : at + size], names))
        at += size
    return shown


# What most batches have is not shown.
USUAL = {
    "base_timestamp": TIME_MS, "max_timestamp": TIME_MS, "partition_leader_epoch": 0, "magic": 2,
    "attributes": 0, "producer_id": -1, "producer_epoch": -1, "base_sequence": -1,
}  # fmt: skip


def plain_batch(batch: bytes, names: Names) -> str:
    """Offset, count and size, a digest of the records, and whatever is unusual."""
    header = read_header(batch)
    fields: dict[str, Plain] = {name: getattr(header, name) for name in USUAL}
    if header.has_producer_id:
        fields["producer_id"] = names.of("producer", header.producer_id)
    if header.is_log_append_time:
        fields["max_timestamp"] = SOMETHING
    if header.is_control:  # written by brokers
        fields |= {"base_timestamp": SOMETHING, "max_timestamp": SOMETHING}
    digest = sha256(batch[HEADER_BYTES:]).hexdigest()[:8]
    shown = f"{header.base_offset}+{header.last_offset_delta}, {header.records_count} records"
    unusual = [f", {name} {value}" for name, value in fields.items() if USUAL[name] != value]
    return f"{shown} in {len(batch)} bytes #{digest}{''.join(unusual)}"
