"""Results of commands that change several things, of which some may fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ottla.cli.cluster.connection import confluent_kafka
from ottla.cli.errors import CommandFailed
from ottla.cli.output.documents import show
from ottla.cli.process import output_after


class Outcome(NamedTuple):
    name: str
    done: str = ""  # what was done, as a sentence; empty if it failed
    error: str = ""
    advice: tuple[str, ...] = ()


def attempt(
    name: str,
    work: Callable[[], str],
    advice: Callable[[Any], Iterable[str]] = lambda _: (),
    messages: Mapping[int, str] = MappingProxyType({}),
) -> Outcome:
    """Call `work`, or note why it failed. `advice` says what to do about an error of Kafka,
    `messages` has clearer messages for some error codes."""
    try:
        return Outcome(name, work())
    except CommandFailed as error:  # no response: others may have succeeded
        return Outcome(name, "", error.message, error.advice)
    except confluent_kafka().KafkaException as error:
        kafka_error = error.args[0]
        text = messages.get(kafka_error.code(), kafka_error.str())
        return Outcome(name, "", text, tuple(advice(kafka_error)))


def report(command: str, noun: str, form: str, outcomes: list[Outcome]) -> int:
    """Print all of them; the exit code."""
    document = [
        {noun: each.name, "done": each.done or None, "error": each.error or None}
        for each in outcomes
    ]
    done = [each.done for each in outcomes if each.done]
    try:
        with output_after(*done):
            show(form, document, lambda: "\n".join(done))
    finally:
        for each in outcomes:
            if each.error:
                print("\n".join(error_lines(command, each)), file=sys.stderr)
    return int(any(each.error for each in outcomes))


def error_lines(command: str, outcome: Outcome) -> list[str]:
    name = outcome.name or repr(outcome.name)
    return [f"{command}: {name}: {outcome.error}", *(f"  {line}" for line in outcome.advice)]
