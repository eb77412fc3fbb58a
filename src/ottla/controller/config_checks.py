"""Validation of settings of topics, groups, client metrics and brokers.

Each check receives all settings that the resource would have, not only the changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ottla.config.broker_checks import check_dynamic
from ottla.config.layers import (
    BrokerLayers,
    TopicDefaults,
    group_config,
    group_limits,
    limit_name,
)
from ottla.config.options import InvalidOption
from ottla.config.resource_options import (
    CLIENT_METRICS_OPTIONS,
    GROUP_OPTIONS,
    METRICS_INTERVAL_MAX_MS,
    METRICS_INTERVAL_MIN_MS,
    TOPIC_OPTIONS,
    parse_match,
)
from ottla.controller.decision import ItemRejected, quoted
from ottla.protocol.error_codes import ErrorCode

VALUE_BYTES_MAX = 32767
METRICS_MAX = 1000  # names in one subscription
SETTINGS_MAX = 1000  # per resource: broker settings may name any listener


def check_topic_config(configs: Mapping[str, str], defaults: TopicDefaults) -> None:
    if not configs:
        return
    _check_sizes(configs)
    for name in configs:
        if name not in TOPIC_OPTIONS:
            raise _invalid(f"Unknown topic config name: {quoted(name)}")
    try:
        config = defaults.checked_config(configs)
    except InvalidOption as error:
        raise _invalid(str(error)) from error
    if config.min_compaction_lag_ms > config.max_compaction_lag_ms:
        raise _invalid(
            "conflict topic config setting min.compaction.lag.ms "
            f"({config.min_compaction_lag_ms}) > max.compaction.lag.ms "
            f"({config.max_compaction_lag_ms})"
        )
    if config.remote_storage_enable:
        raise _invalid(
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured "
            "with remote log storage."
        )


def check_group_config(configs: Mapping[str, str], layers: BrokerLayers) -> None:
    _check_sizes(configs)
    texts = layers.effective()
    for name in configs:
        if name not in GROUP_OPTIONS:
            raise _invalid(f"Unknown group config name: {quoted(name)}")
    for name, text in configs.items():
        try:
            value = GROUP_OPTIONS[name].parse(text)
        except InvalidOption as error:
            raise _invalid(str(error)) from error
        least, greatest = group_limits(name, texts)
        if value < least:
            raise _invalid(f"{name} must be greater than or equal to {limit_name(name, 'min')}")
        if value > greatest:
            raise _invalid(f"{name} must be less than or equal to {limit_name(name, 'max')}")
    config = group_config(configs, layers)
    if config.consumer_session_timeout_ms <= config.consumer_heartbeat_interval_ms:
        raise _invalid(
            "consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms"
        )


def check_client_metrics_config(configs: Mapping[str, str]) -> None:
    _check_sizes(configs)
    for name in configs:
        if name not in CLIENT_METRICS_OPTIONS:
            what = f"Unknown client metrics configuration: {quoted(name)}"
            raise ItemRejected(ErrorCode.INVALID_REQUEST, what)
    try:
        values = {name: CLIENT_METRICS_OPTIONS[name].parse(text) for name, text in configs.items()}
        _check_interval(values.get("interval.ms", METRICS_INTERVAL_MAX_MS))
        parse_match(values.get("match", ()))
        _check_metrics(values.get("metrics", ()))
    except InvalidOption as error:
        raise _invalid(str(error)) from error


def _check_metrics(names: Sequence[str]) -> None:
    if len(names) > METRICS_MAX:
        what = f"A subscription may name {METRICS_MAX} metrics or prefixes of them, or all (*)."
        raise _invalid(what)


def _check_interval(interval_ms: int) -> None:
    if not METRICS_INTERVAL_MIN_MS <= interval_ms <= METRICS_INTERVAL_MAX_MS:
        raise ItemRejected(
            ErrorCode.INVALID_REQUEST,
            f"Invalid value {interval_ms} for interval.ms, interval must be between "
            f"{METRICS_INTERVAL_MIN_MS} and {METRICS_INTERVAL_MAX_MS} (1 hour)",
        )


def check_broker_config(
    configs: Mapping[str, str], layers: BrokerLayers, *, is_one_broker: bool
) -> None:
    _check_sizes(configs)
    try:
        check_dynamic(configs, layers, is_one_broker=is_one_broker)
    except InvalidOption as error:
        raise ItemRejected(ErrorCode.INVALID_REQUEST, str(error)) from error


def _check_sizes(configs: Mapping[str, str]) -> None:
    if len(configs) > SETTINGS_MAX:
        raise _invalid(f"A resource may have {SETTINGS_MAX} settings.")
    if any(len(value.encode()) > VALUE_BYTES_MAX for value in configs.values()):
        raise _invalid(
            "The configuration value cannot be added because it exceeds the maximum value size of "
            f"{VALUE_BYTES_MAX} bytes."
        )


def _invalid(message: str) -> ItemRejected:
    return ItemRejected(ErrorCode.INVALID_CONFIG, message)
