"""Results for one topic from two sources, merged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeVar

from ottla.base.scheduling.step_scheduler import emptying
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.handlers.serving.disposal import freeing

T = TypeVar("T", bound=Any)  # a topic's result: a name, partitions, and in some APIs an id


def merging(first: Sequence[T], second: Sequence[T]) -> Steps[list[T]]:
    """Results of the handler, and those of the coordinator for other partitions. Lists of them are
    emptied, because they may be very long."""
    topics: dict[tuple[str, bytes], T] = {}
    for topic in chain(first, second):
        name = topic.name, getattr(topic, "topic_id", b"")
        known = topics.setdefault(name, topic)
        if known is not topic:
            if type(known.partitions) is not list:
                known.partitions = list(known.partitions)
            known.partitions += topic.partitions
        yield 0
    merged_topics = list(topics.values())
    yield from emptying(topics)
    for results in (first, second):
        if isinstance(results, list):
            yield from freeing(results)
    return merged_topics


def merged(first: Sequence[T], second: Sequence[T]) -> list[T]:
    return run_blocking(merging(first, second))
