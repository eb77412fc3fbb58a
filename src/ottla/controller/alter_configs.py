"""IncrementalAlterConfigs and AlterConfigs: settings of topics, groups, brokers, client metrics.

Each resource is validated separately, and all its changes together: one invalid change rejects the
others of that resource. IncrementalAlterConfigs changes single settings; the older AlterConfigs
replaces all settings of a resource.

Unlike Kafka, unknown broker settings are rejected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ottla.config.broker_options import BROKER_OPTIONS
from ottla.config.kinds import INT, LIST
from ottla.config.layers import BrokerLayers
from ottla.config.options import Option
from ottla.config.resource_options import TOPIC_OPTIONS
from ottla.controller.config_capacity import ConfigCapacity
from ottla.controller.config_checks import (
    check_broker_config,
    check_client_metrics_config,
    check_group_config,
    check_topic_config,
)
from ottla.controller.decision import CHANGED_MAX, Decision, ItemRejected, check_count, quoted
from ottla.controller.eligible_replicas import MIN_IN_SYNC, records_for_new_min_in_sync
from ottla.controller.state import ControllerState
from ottla.metadata.records import (
    ALL_BROKERS,
    ConfigChanged,
    ConfigResource,
    Record,
    ResourceType,
)
from ottla.metadata.topic_names import check_name
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages import alter_configs_request as legacy_request
from ottla.protocol.messages import alter_configs_response as legacy_response
from ottla.protocol.messages import incremental_alter_configs_request as incremental_request
from ottla.protocol.messages import incremental_alter_configs_response as incremental_response

SET, DELETE, APPEND, SUBTRACT = range(4)
_OPERATIONS = {SET: "SET", DELETE: "DELETE", APPEND: "APPEND", SUBTRACT: "SUBTRACT"}
MayAlter = Callable[[ConfigResource], bool]
_FORBIDDEN = {
    ResourceType.TOPIC: (ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed."),
    ResourceType.GROUP: (ErrorCode.GROUP_AUTHORIZATION_FAILED, "Group authorization failed."),
}
_NO_OPTIONS: Mapping[str, Option[Any]] = {}
_LISTS = {ResourceType.TOPIC: TOPIC_OPTIONS, ResourceType.BROKER: BROKER_OPTIONS}
_CLUSTER_FORBIDDEN = ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed."


class SettingChange(NamedTuple):
    name: str
    operation: int
    value: str | None


class ResourceChange(NamedTuple):
    """One resource of a request."""

    type: int
    name: str
    changes: tuple[SettingChange, ...]
    is_replacement: bool  # whether settings that are not listed are removed


def anything_allowed(_resource: ConfigResource) -> bool:
    return True


def decide_incremental_alter_configs(
    state: ControllerState,
    request: incremental_request.IncrementalAlterConfigsRequest,
    broker_id: int,
    *,
    may_alter: MayAlter = anything_allowed,
) -> Decision[incremental_response.IncrementalAlterConfigsResponse]:
    """`broker_id` is the broker that received the request: settings of a broker are changed
    through it."""
    _check_counts(request.resources)
    asked = [
        ResourceChange(
            each.resource_type,
            each.resource_name,
            tuple(SettingChange(c.name, c.config_operation, c.value) for c in each.configs),
            is_replacement=False,
        )
        for each in request.resources
    ]
    records, results = _decide(state, asked, broker_id, may_alter)
    answers = [
        incremental_response.AlterConfigsResourceResponse(code, message, each.type, each.name)
        for each, (code, message) in zip(asked, results, strict=True)
    ]
    answer = incremental_response.IncrementalAlterConfigsResponse(responses=answers)
    return Decision(() if request.validate_only else records, answer)


def decide_alter_configs(
    state: ControllerState,
    request: legacy_request.AlterConfigsRequest,
    broker_id: int,
    *,
    may_alter: MayAlter = anything_allowed,
) -> Decision[legacy_response.AlterConfigsResponse]:
    _check_counts(request.resources)
    asked = [
        ResourceChange(
            each.resource_type,
            each.resource_name,
            tuple(SettingChange(config.name, SET, config.value) for config in each.configs),
            is_replacement=True,
        )
        for each in request.resources
    ]
    records, results = _decide(state, asked, broker_id, may_alter)
    answers = [
        legacy_response.AlterConfigsResourceResponse(code, message, each.type, each.name)
        for each, (code, message) in zip(asked, results, strict=True)
    ]
    answer = legacy_response.AlterConfigsResponse(responses=answers)
    return Decision(() if request.validate_only else records, answer)


def _check_counts(
    resources: Sequence[incremental_request.AlterConfigsResource]
    | Sequence[legacy_request.AlterConfigsResource],
) -> None:
    check_count(len(resources), CHANGED_MAX)
    check_count(sum(len(each.configs) for each in resources))


def _decide(
    state: ControllerState, asked: Sequence[ResourceChange], broker_id: int, may_alter: MayAlter
) -> tuple[tuple[Record, ...], list[tuple[ErrorCode, str | None]]]:
    counts = Counter((each.type, each.name) for each in asked)
    room = ConfigCapacity(state)
    records: list[ConfigChanged] = []
    results: list[tuple[ErrorCode, str | None]] = []
    for each in asked:
        try:
            if counts[each.type, each.name] > 1:
                raise _invalid_request("Each resource must appear at most once.")
            changes = _changes_of(state, each, broker_id, may_alter)
            room.take(changes)
            records += changes
            results.append((ErrorCode.NONE, None))
        except BrokerError as refused:
            results.append((refused.code, refused.message or None))
    return (*records, *records_for_new_min_in_sync(state, records)), results


def _changes_of(
    state: ControllerState, asked: ResourceChange, broker_id: int, may_alter: MayAlter
) -> list[ConfigChanged]:
    resource = _resource_of(asked)
    if resource.type is ResourceType.BROKER and resource.name:
        _check_is_this_broker(resource.name, broker_id)
    if not may_alter(resource):
        raise ItemRejected(*_FORBIDDEN.get(resource.type, _CLUSTER_FORBIDDEN))
    old = state.image.config(resource)
    new = _new_settings(resource, asked, old)
    _check(state, resource, new)
    _check_min_in_sync(resource, asked.changes, old, new)
    is_broker = resource.type is ResourceType.BROKER
    touched = _touched(asked, old, new, is_broker=is_broker)
    return [ConfigChanged(resource, name, new.get(name)) for name in touched]


def _resource_of(asked: ResourceChange) -> ConfigResource:
    names = [change.name for change in asked.changes]
    if len(set(names)) != len(names):
        raise _invalid_request("Error due to duplicate config keys")
    nulls = [c.name for c in asked.changes if c.value is None and c.operation != DELETE]
    if nulls:
        raise _invalid_request(f"Null value not supported for : {quoted(', '.join(nulls))}")
    for change in asked.changes:
        if change.operation not in _OPERATIONS:
            raise _invalid_request(f"Unknown operations type {change.operation}")
    try:
        resource_type = ResourceType(asked.type)
    except ValueError:
        resource_type = ResourceType.UNKNOWN
    if resource_type in (ResourceType.UNKNOWN, ResourceType.BROKER_LOGGER):
        raise _invalid_request(f"Unknown resource type {asked.type}")
    return ConfigResource(resource_type, asked.name)


def _check_is_this_broker(name: str, broker_id: int) -> None:
    try:
        number = INT.parse(name)
    except ValueError:
        what = f"Node id must be an integer, but it is: {quoted(name)}"
        raise _invalid_request(what) from None
    if number != broker_id:
        what = f"Unexpected broker id, expected {broker_id}, but received {name}"
        raise _invalid_request(what)


def _new_settings(
    resource: ConfigResource, asked: ResourceChange, old: Mapping[str, str]
) -> dict[str, str]:
    new = {} if asked.is_replacement else dict(old)
    for change in asked.changes:
        match change.operation:
            case 0:  # SET
                new[change.name] = change.value or ""
            case 1:  # DELETE
                new.pop(change.name, None)
            case _:
                parts = _parts_of(resource, change, old)
                new[change.name] = ",".join(parts)
    return new


def _parts_of(resource: ConfigResource, change: SettingChange, old: Mapping[str, str]) -> list[str]:
    """The elements of a list after appending or subtracting."""
    default = _list_default(resource, change)
    parts = [part for part in old.get(change.name, default).split(",") if part]
    named = dict.fromkeys((change.value or "").split(","))
    if change.operation == APPEND:
        return list(dict.fromkeys([*parts, *named]))
    return [part for part in parts if part not in named]


def _list_default(resource: ConfigResource, change: SettingChange) -> str:
    option = _LISTS.get(resource.type, _NO_OPTIONS).get(change.name)
    if option is not None and option.kind.name == LIST.name:
        return option.default_text or ""
    operation = _OPERATIONS[change.operation]
    if resource.type is ResourceType.BROKER and option is None:
        what = f"Unknown config name: {quoted(change.name)}"
    elif resource.type is ResourceType.BROKER:
        what = f"Config value {operation.lower()} is not allowed for config key: {change.name}"
    else:
        what = f"Can't {operation} to key {quoted(change.name)} because its type is not LIST."
    raise ItemRejected(ErrorCode.INVALID_CONFIG, what)


def _touched(
    asked: ResourceChange, old: Mapping[str, str], new: Mapping[str, str], *, is_broker: bool
) -> Iterable[str]:
    """Names that get a record. Those of a broker always do: setting a value again reloads its
    files."""
    named = {change.name: None for change in asked.changes}
    reset = [name for name in old if name not in new and name not in named]
    return [name for name in named if is_broker or old.get(name) != new.get(name)] + reset


def _check(state: ControllerState, resource: ConfigResource, new: Mapping[str, str]) -> None:
    name = resource.name
    match resource.type:
        case ResourceType.TOPIC:
            if not name:
                raise _invalid_request("Default topic resources are not allowed.")
            check_name(name)
            check_topic_config(new, state.topic_defaults)
            if state.image.topic(name) is None:
                what = f"The topic '{name}' does not exist."
                raise ItemRejected(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, what)
        case ResourceType.GROUP:
            if not name:
                raise _invalid_request("Default group resources are not allowed.")
            check_group_config(new, state.layers)
        case ResourceType.CLIENT_METRICS:
            if not name:
                raise _invalid_request("Subscription name can't be empty")
            check_client_metrics_config(new)
        case _:
            check_broker_config(new, _layers_of(state, name), is_one_broker=bool(name))


def _layers_of(state: ControllerState, name: str) -> BrokerLayers:
    """The layers of the broker that is changed, or of all brokers. What is in another broker's
    configuration file is not known here: the controller's own is used instead."""
    if not name:
        return state.layers
    dynamic = state.image.broker_config(INT.parse(name))
    return state.layers.with_dynamic(dynamic, state.layers.dynamic_default)


def _check_min_in_sync(
    resource: ConfigResource,
    changes: tuple[SettingChange, ...],
    old: Mapping[str, str],
    new: Mapping[str, str],
) -> None:
    """`min.insync.replicas` is set, and equal on all brokers: eligible replicas depend on it."""
    if resource.type is not ResourceType.BROKER:
        return
    if resource != ALL_BROKERS and any(change.name == MIN_IN_SYNC for change in changes):
        what = f"Broker-level {MIN_IN_SYNC} cannot be altered while ELR is enabled."
        raise ItemRejected(ErrorCode.INVALID_CONFIG, what)
    if resource == ALL_BROKERS and MIN_IN_SYNC in old and MIN_IN_SYNC not in new:
        what = f"Cluster-level {MIN_IN_SYNC} cannot be removed while ELR is enabled."
        raise ItemRejected(ErrorCode.INVALID_CONFIG, what)


def _invalid_request(message: str) -> ItemRejected:
    return ItemRejected(ErrorCode.INVALID_REQUEST, message)
