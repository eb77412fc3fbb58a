"""The declaration of a setting: Kafka's name, type, default, check and documentation.

Settings are fields of frozen dataclasses created with `option`, so that code reads a typed
attribute (`config.segment_bytes`) while the reference page, DescribeConfigs and the parser read the
same declaration. Error messages are Kafka's, because admin tools display them.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar, cast

from ottla.base.log_messages.log_text import shown as text_shown
from ottla.config.kinds import Kind, shown

log = logging.getLogger(__name__)

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
SECOND_MS = 1000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

T = TypeVar("T")
Check = Callable[[str, Any], str | None]  # (name, value) to an error message, or None


class InvalidOption(ValueError):
    """A setting that cannot be used; the message has its name, its value and the valid values."""


class Scope(Enum):
    """How a broker setting can change at run time, with Kafka's names."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"  # for the cluster, or for one broker


@dataclass(frozen=True, slots=True)
class Option(Generic[T]):
    name: str
    default: T
    kind: Kind[T]
    check: Check
    doc: str
    scope: Scope = Scope.READ_ONLY
    is_internal: bool = False  # DescribeConfigs reports it only if it is set

    def parse(self, text: str) -> T:
        """The value of `text`; InvalidOption if it is invalid."""
        value = self._of_its_kind(text)
        if (wrong := self.check(self.name, value)) is not None:
            raise InvalidOption(wrong)
        return value

    def parse_stored(self, text: str) -> T:
        """The same for a stored text: checks that became stricter later do not apply."""
        value = self._of_its_kind(text)
        if self.check(self.name, value) is None or not isinstance(value, tuple):
            return value
        return cast(T, tuple(filter(None, value)))

    def _of_its_kind(self, text: str) -> T:
        try:
            return self.kind.parse(text.strip())
        except ValueError as error:
            raise InvalidOption(invalid(self.name, text, str(error))) from None

    def format(self, value: T) -> str | None:
        return None if value is None else self.kind.format(value)

    @property
    def default_text(self) -> str | None:
        return self.format(self.default)

    @property
    def is_sensitive(self) -> bool:
        return self.kind.is_sensitive


def invalid(name: str, value: Any, what: str) -> str:
    return f"Invalid value {shown(value)} for configuration {name}: {what}"


def option(
    name: str,
    default: T,
    kind: Kind[T],
    check: Check,
    doc: str,
    *,
    scope: Scope = Scope.READ_ONLY,
    is_internal: bool = False,
) -> T:
    """Declare a setting as a dataclass field (typed as its value, as `dataclasses.field` is)."""
    declared = Option(name, default, kind, check, doc, scope, is_internal)
    return dataclasses.field(default=default, metadata={"option": declared})


def options_of(config_type: type[Any]) -> dict[str, Option[Any]]:
    """Kafka's name to declaration, in declaration order."""
    declared = [field.metadata["option"] for field in dataclasses.fields(config_type)]
    return {each.name: each for each in declared}


def fields_of(config_type: type[Any]) -> dict[str, str]:
    """Kafka's name to attribute name."""
    fields = dataclasses.fields(config_type)
    return {field.metadata["option"].name: field.name for field in fields}


def stored_values(options: Mapping[str, Option[Any]], texts: Mapping[str, str]) -> dict[str, Any]:
    """Values by Kafka's names; invalid ones are skipped with a warning."""
    values = {}
    for name, text in texts.items():
        option = options.get(name)
        if option is None:
            log.warning("stored setting ignored: %s: no such setting", text_shown(name))
            continue
        try:
            values[name] = option.parse_stored(text)
        except InvalidOption as error:
            log.warning("stored setting ignored: %s", text_shown(str(error)))
    return values
