"""A table of declared options, and how a query's texts become values of it. Both for reading and
for writing.

Owns      names in any case, words in any case, advice for names that nobody knows.
Promises  InvalidOption names the option that is unknown or has an impossible value; whatever begins
          with `kafka.` is left to those who know Kafka's settings.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ottla.client.settings import BOOTSTRAP_SERVERS
from ottla.config.kinds import Kind
from ottla.config.options import InvalidOption, Option

T = TypeVar("T")

KAFKA_PREFIX = "kafka."
# A choice among words, which people write as they like: Spark's own options take any case.
WORD: Kind[str] = Kind("STRING", 2, str.lower, str)
Declared = dict[str, tuple[str, Option[Any]]]  # name in lower case: attribute, declaration


@dataclass(frozen=True)
class OptionTable(Generic[T]):
    made: type[T]  # a dataclass whose fields are made with `option`
    use: str  # what the options are for, in a sentence about one that is not known
    elsewhere: Mapping[str, str]  # names, in lower case, that people look for here, and advice

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
        if (hint := self.elsewhere.get(unknown.lower())) is not None:
            return f"Option {unknown}: {hint}."
        known = [each.name for _, each in self.declared.values()]
        lowered = {each.lower(): each for each in [*known, KAFKA_PREFIX + BOOTSTRAP_SERVERS]}
        near = difflib.get_close_matches(unknown.lower(), lowered, n=1)
        advice = f"Did you mean {lowered[near[0]]}?" if near else f"Known are: {', '.join(known)}."
        return f"Option {unknown} is not known to the format ottla{self.use}. {advice}"


def parse_option(declared: Option[Any], text: str, prefix: str = "") -> Any:
    """`prefix`: what the user wrote before the name. The whole name is in what is told."""
    try:
        return declared.parse(text)
    except InvalidOption as error:
        name = prefix + declared.name
        reason = str(error)
        raise InvalidOption(reason if name in reason else f"Option {name}: {reason}") from None
