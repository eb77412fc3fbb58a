"""Patterns of a group are compared with all topics, whatever an older release has stored, and
whatever happens before all of them are resolved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.coordinators.groups.harness import GROUP, ConsumerClient, Harness, settle

from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.consumer.regexes import REFRESH_MS_MIN, is_stale
from ottla.coordinators.groups.pattern_matching import matching, resolving
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

PATTERNS = ["t.*", "t|u"]


def test_a_stored_pattern_that_cannot_be_compiled_stands_for_no_topic_and_stops_no_other() -> None:
    names = ["t", "u", "v"]
    found, unusable = run_blocking(matching(["(?!t)u", "t|u", "a" * 5000], names))
    assert found == {"(?!t)u": set(), "t|u": {"t", "u"}, "a" * 5000: set()}
    assert unusable.keys() == {"(?!t)u", "a" * 5000}


def refuse(harness: Harness, _clients: list[ConsumerClient]) -> None:
    harness.refusal = ErrorCode.NOT_ENOUGH_REPLICAS


def restart(harness: Harness, _clients: list[ConsumerClient]) -> None:
    harness.refusal = ErrorCode.NOT_LEADER_OR_FOLLOWER  # for the steps of the old leader


def beat(_harness: Harness, clients: list[ConsumerClient]) -> None:
    for client in clients:
        client.beat()


def leave(_harness: Harness, clients: list[ConsumerClient]) -> None:
    clients.pop().leave()


@pytest.mark.parametrize("older", PATTERNS)
def test_patterns_are_compared_again_while_one_of_them_was_compared_with_older_topics(
    older: str,
) -> None:
    harness = Harness()
    harness.create_topic("t", 4)
    clients = [ConsumerClient(harness, topics=(), regex=pattern) for pattern in PATTERNS]
    for _ in range(3):  # patterns are not compared more often than that
        settle(*clients)
        harness.advance_ms(REFRESH_MS_MIN + 1)
    group = harness.shard.groups[GROUP]
    assert isinstance(group, ConsumerGroup)
    assert not is_stale(group, harness.shard.context)
    known = group.regexes[older]
    group.regexes[older] = known._replace(version=known.version - 1)
    assert is_stale(group, harness.shard.context)


@pytest.mark.parametrize("event", [refuse, restart, beat, leave])
def test_every_subscriber_gets_partitions_whatever_happens_before_all_patterns_are_resolved(
    event: Callable[[Harness, list[ConsumerClient]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(len(PATTERNS) + 2):
        harness = Harness("group.consumer.assignment.interval.ms=0")
        harness.create_topic("t", 4)  # which another member names: it is no new topic of the group
        clients = [ConsumerClient(harness)]
        settle(*clients)
        with monkeypatch.context() as patched:
            patched.setattr(harness, "resolve_patterns", lambda: None)
            for pattern in PATTERNS:
                clients.append(ConsumerClient(harness, topics=(), regex=pattern))
                clients[-1].beat()
            harness.shard.context.unresolved.clear()
            resolve(harness, at, lambda: event(harness, clients))  # noqa: B023
        harness.refusal = None
        if event is restart:
            harness.restart()
        harness.advance_ms(REFRESH_MS_MIN)
        settle(*clients)
        owned = [client.partitions for client in clients]
        assert all(owned), at
        assert sorted(each for every in owned for each in every) == [
            ("t", each) for each in range(4)
        ]


def resolve(harness: Harness, at: int, event: Callable[[], None]) -> None:
    """What the service does next to its other work, with an event before one of its steps."""
    found, _ = run_blocking(matching(PATTERNS, list(harness.image.topics)))
    steps = resolving(harness.loaded, GROUP, found, harness.image.offset, harness.runtime)
    try:
        for number in range(len(PATTERNS) + 2):
            if number == at:
                event()
            next(steps, None)
    except BrokerError:
        pass
