"""Loggers as settings: DescribeConfigs has their levels, IncrementalAlterConfigs changes them.

Owns      nothing: levels belong to this process and are lost when it ends, as in Kafka.
Promises  either all changes of a request are made or none; unknown loggers are refused.

Levels have Kafka's names; TRACE is below Python's DEBUG. A logger without a level of its own has
that of its nearest parent with one, up to `root`.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence

from ottla.config.describe import ConfigEntry
from ottla.config.kinds import INT
from ottla.config.layers import ConfigSource
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.incremental_alter_configs_request import AlterableConfig

ROOT = "root"
SET, DELETE = 0, 1
LEVELS = {"FATAL": 50, "ERROR": 40, "WARN": 30, "INFO": 20, "DEBUG": 10, "TRACE": 5}
UNKNOWN_WIRE_TYPE = 0


def check_loggers(broker_id: int, name: str) -> None:
    """Refuse loggers of other brokers."""
    if not name:
        raise BrokerError(ErrorCode.INVALID_REQUEST, "Broker id must not be empty")
    check_broker(broker_id, name)


def describe_loggers() -> list[ConfigEntry]:
    return [entry_of(logger) for logger in logger_names()]


def entry_of(name: str) -> ConfigEntry:
    return ConfigEntry(
        name=name,
        value=level_name(find_logger(name).getEffectiveLevel()),
        source=ConfigSource.DYNAMIC_BROKER_LOGGER,
        is_read_only=False,
        is_sensitive=False,
        wire_type=UNKNOWN_WIRE_TYPE,
        synonyms=(),
        doc="",
    )


def alter_loggers(
    broker_id: int, name: str, changes: Sequence[AlterableConfig], *, validate_only: bool
) -> None:
    known = frozenset(logger_names())
    names = [change.name for change in changes[: len(known) + 1]]
    if len(set(names)) != len(names):
        raise BrokerError(ErrorCode.INVALID_REQUEST, "Error due to duplicate config keys")
    check_broker(broker_id, name)
    for change in changes[: len(known) + 1]:  # of more than all, one is unknown
        check_change(change, known)
    if not validate_only:
        for change in changes:
            is_set = change.config_operation == SET
            level = LEVELS[change.value or ""] if is_set else logging.NOTSET
            find_logger(change.name).setLevel(level)


def check_broker(broker_id: int, name: str) -> None:
    try:
        number = INT.parse(name)
    except ValueError:
        what = f"Node id must be an integer, but it is: {name}"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what) from None
    if number != broker_id:
        what = f"Unexpected broker id, expected {broker_id}, but received {name}"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)


def check_change(change: AlterableConfig, known: Container[str]) -> None:
    if change.value is None and change.config_operation != DELETE:
        what = f"Null value not supported for : {change.name}"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)
    if change.config_operation not in (SET, DELETE):
        what = f"Operation {change.config_operation} is not allowed for loggers"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)
    if change.name not in known:
        raise BrokerError(ErrorCode.INVALID_CONFIG, f"Logger {change.name} does not exist!")
    if change.config_operation == DELETE and change.name == ROOT:
        what = "The level of the root logger cannot be removed"
        raise BrokerError(ErrorCode.INVALID_REQUEST, what)
    if change.config_operation == SET and change.value not in LEVELS:
        what = f"{change.name}: {change.value} is no level; levels are {', '.join(LEVELS)}"
        raise BrokerError(ErrorCode.INVALID_CONFIG, what)


def logger_names() -> list[str]:
    return [ROOT, *sorted(logging.root.manager.loggerDict)]


def find_logger(name: str) -> logging.Logger:
    return logging.root if name == ROOT else logging.getLogger(name)


def level_name(level: int) -> str:
    """Kafka's name of a level: the highest that does not exceed it."""
    return next((name for name, number in LEVELS.items() if number <= level), "TRACE")
