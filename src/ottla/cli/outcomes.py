"""What became of each thing a command was asked to do: some may work where others fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ottla.cli.connection import confluent_kafka
from ottla.cli.output import show


@dataclass(frozen=True, slots=True)
class Outcome:
    name: str
    done: str = ""  # in the words of a person; empty if it failed
    error: str = ""
    advice: tuple[str, ...] = ()


def attempt(
    name: str,
    work: Callable[[], str],
    advice: Callable[[Any], Iterable[str]] = lambda _: (),
    words: Mapping[int, str] = MappingProxyType({}),
) -> Outcome:
    """Do it, or note why it failed; `advice` says what can be done about an error of Kafka's,
    `words` has a better text for some of their codes."""
    try:
        return Outcome(name, work())
    except confluent_kafka().KafkaException as error:
        kafka_error = error.args[0]
        text = words.get(kafka_error.code(), kafka_error.str())
        return Outcome(name, "", text, tuple(advice(kafka_error)))


def report(command: str, noun: str, form: str, outcomes: list[Outcome]) -> int:
    """Show them all; the exit code."""
    document = [
        {noun: each.name, "done": each.done or None, "error": each.error or None}
        for each in outcomes
    ]
    show(form, document, lambda: "\n".join(each.done for each in outcomes if each.done))
    for each in outcomes:
        if each.error:
            lines = [
                f"{command}: {each.name}: {each.error}",
                *(f"  {line}" for line in each.advice),
            ]
            print("\n".join(lines), file=sys.stderr)
    return int(any(each.error for each in outcomes))
