"""Plays all stories on three brokers, in the order in which they need them."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tests.compatibility.cluster_tools.comparing import differences
from tests.compatibility.cluster_tools.session import Expects, Outcome, Outcomes, ToolSession
from tests.compatibility.cluster_tools.stories.cluster import cluster
from tests.compatibility.cluster_tools.stories.configs import configs
from tests.compatibility.cluster_tools.stories.groups import groups
from tests.compatibility.cluster_tools.stories.killed import killed
from tests.compatibility.cluster_tools.stories.reassignments import reassignments
from tests.compatibility.cluster_tools.stories.records import records
from tests.compatibility.cluster_tools.stories.topics import topics
from tests.compatibility.cluster_tools.stories.transactions import transactions
from tests.compatibility.cluster_tools.trios import Trio
from tests.support.oracle import Oracle

STORIES: Mapping[str, Callable[[ToolSession], None]] = {
    each.__name__: each
    for each in (
        topics, configs, groups, transactions, records, cluster, reassignments, killed,
    )
}  # fmt: skip
FAILED = "the story"
INTERNAL = ("__consumer_offsets", "__transaction_state")
PLACES = "1:2:3,2:3:1,3:1:2"  # so that each broker coordinates what tools ask about


def play_all(
    trio: Trio,
    oracle: Oracle,
    names: Iterable[str] = tuple(STORIES),
    recorded: Callable[[str], Outcomes] | None = None,
) -> dict[str, Outcomes]:
    """With what was `recorded` of a story, calls that read wait until they print the same."""
    played = {}
    with tempfile.TemporaryDirectory(prefix="tools-") as folder:
        first = ToolSession(trio, oracle, Path(folder))
        for topic in INTERNAL:
            first.topic(topic, PLACES, cleanup_policy="compact", compression_type="producer")
        for name in names:
            expects = expectation(name, recorded(name)) if recorded else None
            played[name] = play(STORIES[name], ToolSession(trio, oracle, Path(folder), expects))
    return played


def expectation(story: str, recorded: Outcomes) -> Expects:
    def expects(call: str, found: Outcome) -> bool:
        return not differences(story, {call: recorded.get(call, {})}, {call: found})

    return expects


def play(story: Callable[[ToolSession], None], session: ToolSession) -> Outcomes:
    """What it showed; how it failed is an outcome like others, so that the next ones are played."""
    try:
        story(session)
    except Exception:
        session.outcomes[FAILED] = {"failed": traceback.format_exc().splitlines()}
    return session.outcomes
