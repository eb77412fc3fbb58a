from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ottla.base.ids import TopicPartition
from ottla.cli.consuming.selection import Selection
from ottla.cli.errors import CommandFailed


def topics(**counts: int) -> dict[str, Any]:
    return {
        name: SimpleNamespace(partitions=dict.fromkeys(range(count)))
        for name, count in counts.items()
    }


def test_patterns_follow_the_topics_that_exist() -> None:
    selection = Selection(["a*", "b"])
    assert selection.current_topics(topics(a1=1)) == ["a1"]
    assert selection.current_topics(topics(a2=1, b=1, a1=1, c=1)) == ["a1", "a2", "b"]
    assert selection.current_topics({}) == []


def test_numbers_limit_the_partitions() -> None:
    selection = Selection(["a*"], [1])
    assert selection.partitions(topics(a1=2)) == [TopicPartition("a1", 1)]
    assert selection.current_partitions(topics(a1=1, a2=3)) == [TopicPartition("a2", 1)]


def test_what_is_missing_at_the_start_is_a_failure() -> None:
    with pytest.raises(CommandFailed, match="no topic matches x"):
        Selection(["x*"]).partitions(topics(a=1))
    with pytest.raises(CommandFailed, match="there is no topic x"):
        Selection(["x"]).partitions(topics(a=1))
    with pytest.raises(CommandFailed, match="a has no partition 1: it has 1"):
        Selection(["a"], [1]).partitions(topics(a=1))
