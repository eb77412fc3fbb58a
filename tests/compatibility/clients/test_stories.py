"""Every story of two clients is true: before a kill -9 of the broker, and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import pytest
from tests.compatibility.clients.clients import (
    AIOKAFKA,
    JAVA,
    KAFKA_PYTHON,
    KEEPING,
    LIBRDKAFKA,
)
from tests.compatibility.clients.cluster import Cluster
from tests.compatibility.clients.stories.all_stories import STORIES
from tests.compatibility.clients.stories.telling import Sight, Story
from tests.support.oracle import Oracle
from tests.support.requirements import REQUIREMENTS
from tests.support.wire_tap import WireTap

from ottla.testing.broker import RunningBroker

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("stories")]  # run once for all of them
CLIENT_IDS = {
    LIBRDKAFKA: ("rdkafka",),
    KAFKA_PYTHON: ("kafka-python",),
    AIOKAFKA: ("aiokafka",),
    JAVA: ("adminclient-", "producer-", "consumer-", "reassign-partitions-tool", "GetOffset"),
}


class Reports(NamedTuple):
    tap: WireTap
    failures: dict[str, list[BaseException]]


@pytest.fixture(scope="module")
def reported(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Reports]:
    """All stories at once: one kill serves them all."""
    has_java = all(REQUIREMENTS[name].find_missing() is None for name in ("java", "maven"))
    oracle: Oracle | None = request.getfixturevalue("oracle") if has_java else None
    failures: dict[str, list[BaseException]] = {}
    tmp_path = tmp_path_factory.mktemp("stories")
    with (
        WireTap() as tap,
        RunningBroker(
            config={**tap.broker_config, **KEEPING, "log.dirs": f"{tmp_path}/a,{tmp_path}/b"},
            port=tap.broker_port,
        ) as broker,
    ):
        cluster = Cluster(broker.bootstrap_servers, oracle, tap)
        sights: dict[str, Sight] = {}

        def attempt(story: Story, work: Callable[[], object]) -> None:
            try:
                work()
            except Exception as error:
                failures.setdefault(story.name, []).append(error)

        def act(story: Story) -> None:
            sights[story.name] = story.run(cluster)

        def look(story: Story) -> None:
            assert story.name not in sights or sights[story.name]()

        stories = [each for each in STORIES if has_java or JAVA not in (each.by, each.seen_by)]
        for story in stories:
            attempt(story, partial(act, story))
        for story in stories:
            attempt(story, partial(look, story))
        broker.kill()
        broker.start()
        for story in stories:
            attempt(story, partial(look, story))
        yield Reports(tap, failures)
        assert "Traceback" not in broker.log, broker.log[-20_000:]


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(
            each, marks=[pytest.mark.java] if JAVA in (each.by, each.seen_by) else [], id=each.name
        )
        for each in STORIES
    ],
)
def test_what_one_client_does_another_sees_also_after_kill_9(
    reported: Reports, story: Story
) -> None:
    for error in reported.failures.get(story.name, ()):
        raise error
    for client, keys in ((story.by, story.does), (story.seen_by, story.sees)):
        for key in keys:
            sent = [reported.tap.versions(key, by=name) for name in CLIENT_IDS[client]]
            assert any(sent), f"{client} never sent {key.name}"
