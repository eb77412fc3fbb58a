"""A table of declared options, and parsing the options of a query with it.

Owns      matching names without regard to case, and the advice for unknown names.
Promises  InvalidOption names the option that is unknown or has an invalid value.
Leaves    options that begin with `kafka.` to `kafka_settings.py`.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ottla.client.settings import BOOTSTRAP_SERVERS, CLIENT_OPTIONS
from ottla.config.kinds import Kind
from ottla.config.options import InvalidOption, Option, invalid
from ottla.metadata.topic_names import fault_of_name

T = TypeVar("T")

KAFKA_PREFIX = "kafka."
# One of several words; Spark's own options ignore case as well.
WORD: Kind[str] = Kind("STRING", 2, str.lower, str)
Declared = dict[str, tuple[str, Option[Any]]]  # name in lower case: attribute, declaration


def topic_name(name: str, value: str | None) -> str | None:
    """A check: the name must be one that a topic can have."""
    fault = None if value is None else fault_of_name(value)
    return None if fault is None else invalid(name, repr(value), fault)


def topic_names(name: str, values: tuple[str, ...] | None) -> str | None:
    faults = (topic_name(name, each) for each in values or ())
    return next((fault for fault in faults if fault is not None), None)


@dataclass(frozen=True)
class OptionTable(Generic[T]):
    made: type[T]  # a dataclass whose fields are declared with `option`
    use: str  # what the options are for, in the error about an unknown one
    misplaced: Mapping[str, str]  # names, in lower case, that belong to something else: advice

    @property
    def declared(self) -> Declared:
        fields = dataclasses.fields(self.made)  # type: ignore[arg-type]
        return {
            field.metadata["option"].name.lower(): (field.name, field.metadata["option"])
            for field in fields
        }

    def parse(self, texts: Mapping[str, str]) -> T:
        declared = self.declared
        values = {}
        for name, text in texts.items():
            if name.lower().startswith(KAFKA_PREFIX):
                continue
            if name.lower() not in declared:
                raise InvalidOption(self.advice_on(name))
            attribute, each = declared[name.lower()]
            values[attribute] = parse_option(each, text)
        return self.made(**values)

    def advice_on(self, unknown: str) -> str:
        if (hint := self.misplaced.get(unknown.lower())) is not None:
            return f"Option {unknown}: {hint}."
        message = f"Option {unknown} is not known to the format ottla{self.use}."
        if unknown.lower() in CLIENT_OPTIONS:
            return (
                f"{message} Settings of Kafka's clients begin with kafka.: {KAFKA_PREFIX}{unknown}."
            )
        known = [each.name for _, each in self.declared.values()]
        lowered = {each.lower(): each for each in [*known, KAFKA_PREFIX + BOOTSTRAP_SERVERS]}
        near = difflib.get_close_matches(unknown.lower(), lowered, n=1)
        advice = f"Did you mean {lowered[near[0]]}?" if near else f"Known are: {', '.join(known)}."
        return f"{message} {advice}"


def parse_option(declared: Option[Any], text: str, prefix: str = "") -> Any:
    """`prefix` is what the user wrote before the name; the error has the whole name."""
    try:
        return declared.parse(text)
    except InvalidOption as error:
        name = prefix + declared.name
        reason = str(error)
        raise InvalidOption(reason if name in reason else f"Option {name}: {reason}") from None
