"""Answers in a form that can be kept and compared: without ids, in an order of their own."""

from __future__ import annotations

from copy import copy
from typing import Any

from ottla.config.layers import ConfigSource
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message, Struct
from ottla.protocol.messages.create_topics_response import CreatableTopicResult

Plain = Any  # what JSON can hold
# Different every time, or (documentation) different on purpose.
LEFT_OUT = {"topic_id", "throttle_time_ms", "documentation"}
UNORDERED = {"topics", "responses", "results", "entries", "values", "entity", "configs"}


def plain(message: Message) -> Plain:
    return _plain("", message)


def _plain(name: str, value: object) -> Plain:
    if isinstance(value, CreatableTopicResult):
        chosen = [
            each for each in value.configs or () if each.config_source != ConfigSource.DEFAULT
        ]
        value = copy(value)
        value.configs = chosen
    if isinstance(value, Struct):
        return {key: _plain(key, each) for key, each in value.items() if key not in LEFT_OUT}
    if name == "error_code" and isinstance(value, int):
        return ErrorCode(value).name
    if isinstance(value, list | tuple):
        items = [_plain(name, each) for each in value]
        return (
            sorted(items, key=repr) if name in UNORDERED | {"replica_election_results"} else items
        )
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value)
    return value
