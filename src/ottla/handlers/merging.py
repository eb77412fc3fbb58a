"""Answers for one topic from two places, told together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T", bound=Any)  # a topic's answer: it has a name and partitions, maybe an id


def merged(first: Iterable[T], second: Iterable[T]) -> list[T]:
    """What was found out about partitions here, and what a coordinator said of the others."""
    topics: dict[tuple[str, bytes], T] = {}
    for topic in (*first, *second):
        known = topics.setdefault((topic.name, getattr(topic, "topic_id", b"")), topic)
        if known is not topic:
            known.partitions = [*known.partitions, *topic.partitions]
    return list(topics.values())
