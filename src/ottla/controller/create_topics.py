"""CreateTopics: names, replicas and settings of new topics. Each topic is validated separately.

Differs from Kafka in one point: of two colliding names in one request, only one is created.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ottla.base.ids import TopicId
from ottla.config.layers import BrokerLayers, ConfigSource, topic_text
from ottla.config.resource_options import TOPIC_OPTIONS
from ottla.controller.assignments import check_replicas, chosen_partition, placed_partitions
from ottla.controller.config_capacity import ConfigCapacity
from ottla.controller.config_checks import check_topic_config
from ottla.controller.decision import (
    Charge,
    Decision,
    IsAllowed,
    ItemRejected,
    allow_all,
    check_count,
    no_quota,
    quoted,
    refuse_too_many,
)
from ottla.controller.placement import CannotPlace
from ottla.controller.state import ControllerState
from ottla.metadata.records import (
    ConfigChanged,
    ConfigResource,
    PartitionCreated,
    Record,
    ResourceType,
    TopicCreated,
)
from ottla.metadata.topic_names import CLUSTER_METADATA, check_name, unified_name
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)

DEFAULT = -1


def decide_create_topics(
    state: ControllerState,
    request: CreateTopicsRequest,
    *,
    may_create: IsAllowed = allow_all,
    may_describe_configs: IsAllowed = allow_all,
    charge: Charge = no_quota,
) -> Decision[CreateTopicsResponse]:
    check_count(len(request.topics))
    creation = _Creation(state, may_describe_configs, charge)
    counts = Counter(topic.name for topic in request.topics)
    wanted = [
        t for t in request.topics if counts[t.name] == 1 and _is_permitted(t.name, may_create)
    ]
    results = {name: _refusal_of_name(name, counts[name], may_create) for name in counts}
    try:
        refuse_too_many(sum(max(1, _partition_count(state, topic)) for topic in wanted))
    except ItemRejected as refused:  # for the whole request
        failed = [_failed(topic.name, refused) for topic in request.topics]
        return Decision((), CreateTopicsResponse(topics=failed))
    results |= {topic.name: creation.create(topic) for topic in wanted}
    records = () if request.validate_only else tuple(creation.records)
    return Decision(records, CreateTopicsResponse(topics=[r for r in results.values() if r]))


def _is_permitted(name: str, may_create: IsAllowed) -> bool:
    return name != CLUSTER_METADATA and may_create(name)


def _refusal_of_name(name: str, count: int, may_create: IsAllowed) -> CreatableTopicResult | None:
    """The answer for a name that is repeated, reserved or not authorized."""
    code = ErrorCode.INVALID_REQUEST
    if count > 1:
        return _failed(name, ItemRejected(code, "Duplicate topic name."))
    if name == CLUSTER_METADATA:
        what = f"Creation of internal topic {name} is prohibited."
        return _failed(name, ItemRejected(code, what))
    if not may_create(name):
        refused = ItemRejected(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
        return _failed(name, refused)
    return None


def _partition_count(state: ControllerState, topic: CreatableTopic) -> int:
    if topic.assignments:
        return len(topic.assignments)
    chosen = topic.num_partitions
    return state.config.num_partitions if chosen == DEFAULT else max(0, chosen)


def _failed(name: str, refused: BrokerError) -> CreatableTopicResult:
    return CreatableTopicResult(
        name, error_code=refused.code, error_message=refused.message or None
    )


class _Creation:
    """The topics of one request. Each is validated against the ones before it."""

    def __init__(
        self, state: ControllerState, may_describe_configs: IsAllowed, charge: Charge
    ) -> None:
        self._state = state
        self._may_describe_configs = may_describe_configs
        self._charge = charge
        self._described = _DescribedConfigs(state.layers)
        self._room = ConfigCapacity(state)
        self._unified_names: dict[str, str] = {}
        self._new_partitions = 0
        self.records: list[Record] = []

    def create(self, topic: CreatableTopic) -> CreatableTopicResult:
        try:
            self._check_name(topic.name)
            configs = _checked_configs(self._state, topic)
            topic_id = TopicId(self._state.new_uuid())
            partitions = _partitions_of(self._state, topic, topic_id)
            self._check_limit(len(partitions))
            resource = ConfigResource(ResourceType.TOPIC, topic.name)
            changes = [ConfigChanged(resource, *item) for item in configs.items()]
            self._room.take(changes)
            self._charge(len(partitions))
        except BrokerError as refused:
            return _failed(topic.name, refused)
        self._unified_names[unified_name(topic.name)] = topic.name
        self._new_partitions += len(partitions)
        self.records.append(TopicCreated(topic_id, topic.name))
        self.records += changes
        self.records += partitions
        return self._created(topic.name, topic_id, partitions, configs)

    def _check_name(self, name: str) -> None:
        check_name(name)
        image = self._state.image
        if image.topic(name) is not None:
            raise ItemRejected(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        other = image.colliding_topic(name) or self._unified_names.get(unified_name(name))
        if other is not None:
            what = f"Topic '{name}' collides with existing topic: {other}"
            raise ItemRejected(ErrorCode.INVALID_TOPIC_EXCEPTION, what)

    def _check_limit(self, partitions: int) -> None:
        limit = self._state.config.ottla_partitions_max
        if self._state.image.partition_count + self._new_partitions + partitions > limit:
            what = f"The cluster may have {limit} partitions (ottla.partitions.max)."
            raise ItemRejected(ErrorCode.POLICY_VIOLATION, what)

    def _created(
        self,
        name: str,
        topic_id: TopicId,
        partitions: list[PartitionCreated],
        configs: Mapping[str, str],
    ) -> CreatableTopicResult:
        if not self._may_describe_configs(name):
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            return CreatableTopicResult(
                name, topic_id, error_message=None, topic_config_error_code=code
            )
        return CreatableTopicResult(
            name,
            topic_id,
            error_message=None,
            num_partitions=len(partitions),
            replication_factor=len(partitions[0].replicas),
            configs=self._described.of(configs),
        )


def _checked_configs(state: ControllerState, topic: CreatableTopic) -> dict[str, str]:
    nulls = [config.name for config in topic.configs if config.value is None]
    if nulls:
        what = f"Null value not supported for topic configs: {quoted(','.join(nulls))}"
        raise ItemRejected(ErrorCode.INVALID_CONFIG, what)
    configs = {config.name: config.value or "" for config in topic.configs}
    check_topic_config(configs, state.topic_defaults)
    return configs


class _DescribedConfigs:
    """The settings of new topics, by name, with their sources.

    Topics share common entries: all of them together may take tens of megabytes.
    """

    def __init__(self, layers: BrokerLayers) -> None:
        self._layers = layers
        self._defaults: dict[str, CreatableTopicConfigs | None] | None = None

    def of(self, configs: Mapping[str, str]) -> list[CreatableTopicConfigs]:
        if self._defaults is None:
            self._defaults = {name: self._default(name) for name in sorted(TOPIC_OPTIONS)}
        described = (
            CreatableTopicConfigs(name, configs[name], config_source=ConfigSource.TOPIC)
            if name in configs
            else default
            for name, default in self._defaults.items()
        )
        return [each for each in described if each is not None]

    def _default(self, name: str) -> CreatableTopicConfigs | None:
        found = topic_text(name, {}, self._layers)
        if found is None:
            return None
        return CreatableTopicConfigs(found.name, found.text, config_source=found.source)


def _partitions_of(
    state: ControllerState, topic: CreatableTopic, topic_id: TopicId
) -> list[PartitionCreated]:
    if topic.assignments:
        return _assigned_partitions(state, topic, topic_id)
    factor, count = topic.replication_factor, topic.num_partitions
    if factor < DEFAULT or factor == 0:
        raise ItemRejected(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if count < DEFAULT or count == 0:
        raise ItemRejected(
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        )
    if factor == DEFAULT:
        factor = state.config.default_replication_factor
    if count == DEFAULT:
        count = state.config.num_partitions
    try:
        return placed_partitions(state, topic_id, 0, count, factor)
    except CannotPlace as refused:
        what = f"Unable to replicate the partition {factor} time(s): {refused.message}"
        raise ItemRejected(refused.code, what) from refused


def _assigned_partitions(
    state: ControllerState, topic: CreatableTopic, topic_id: TopicId
) -> list[PartitionCreated]:
    for name, value in (
        ("replication factor", topic.replication_factor),
        ("numPartitions", topic.num_partitions),
    ):
        if value != DEFAULT:
            what = f"A manual partition assignment was specified, but {name} was not set to -1."
            raise ItemRejected(ErrorCode.INVALID_REQUEST, what)
    partitions: dict[int, PartitionCreated] = {}
    factor: int | None = None
    for assignment in topic.assignments:
        index, replicas = assignment.partition_index, assignment.broker_ids
        if index in partitions:
            what = f"Found multiple manual partition assignments for partition {index}"
            raise ItemRejected(ErrorCode.INVALID_REPLICA_ASSIGNMENT, what)
        check_replicas(state, replicas, factor)
        factor = len(replicas)
        partitions[index] = chosen_partition(state, topic_id, index, replicas)
    if sorted(partitions) != list(range(len(partitions))):
        what = "partitions should be a consecutive 0-based integer sequence"
        raise ItemRejected(ErrorCode.INVALID_REPLICA_ASSIGNMENT, what)
    return [partitions[index] for index in range(len(partitions))]
