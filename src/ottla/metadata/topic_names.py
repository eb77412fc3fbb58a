"""Validation of topic names.

A topic's name is part of file paths and metric names: names that could leave their directory are
rejected, and names that differ only in `.` and `_` collide.
"""

from __future__ import annotations

import string

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

NAME_CHARACTERS_MAX = 249
GROUP_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_STATE = "__share_group_state"
CLUSTER_METADATA = "__cluster_metadata"
INTERNAL_TOPICS = frozenset({GROUP_OFFSETS, TRANSACTION_STATE, SHARE_STATE})
_LEGAL = frozenset(string.ascii_letters + string.digits + "._-")


def fault_of_name(name: str) -> str | None:
    """Kafka's message for an invalid topic name; None if it is valid."""
    if not name:
        return "Topic name is invalid: the empty string is not allowed"
    if name in (".", ".."):
        return f"Topic name is invalid: '{name}' is not allowed"
    if len(name) > NAME_CHARACTERS_MAX:
        return (
            f"Topic name is invalid: the length of '{name}' is longer than the max allowed length "
            f"{NAME_CHARACTERS_MAX}"
        )
    if not _LEGAL.issuperset(name):
        return (
            f"Topic name is invalid: '{name}' contains one or more characters other than ASCII "
            "alphanumerics, '.', '_' and '-'"
        )
    return None


def check_name(name: str) -> None:
    """BrokerError with INVALID_TOPIC_EXCEPTION if the name is invalid."""
    if (fault := fault_of_name(name)) is not None:
        raise BrokerError(ErrorCode.INVALID_TOPIC_EXCEPTION, fault)


def has_collision_characters(name: str) -> bool:
    return "." in name or "_" in name


def unified_name(name: str) -> str:
    """Names with the same unified name collide."""
    return name.replace(".", "_")
