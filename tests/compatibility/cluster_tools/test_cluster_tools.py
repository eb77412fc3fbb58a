"""Kafka's command-line tools on three brokers, one of which is killed: they print what they print
on three brokers of Apache Kafka, or the difference is listed.

Kafka's part was recorded (`python -m tests.compatibility.cluster_tools.recording`), and is run
again with OTTLA_LONG=1.
"""

from __future__ import annotations

import pytest
from tests.compatibility.cluster_tools.comparing import differences
from tests.compatibility.cluster_tools.playing import STORIES, play_all
from tests.compatibility.cluster_tools.recording import read_recording
from tests.compatibility.cluster_tools.session import Outcomes
from tests.compatibility.cluster_tools.trios import kafka_trio, our_trio
from tests.support.oracle import Oracle

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("cluster-tools")]


@pytest.fixture(scope="module")
def ours(oracle: Oracle, request: pytest.FixtureRequest) -> dict[str, Outcomes]:
    """The stories of this run: some are left to the long one."""
    chosen = [item.name for item in request.session.items]
    asked = [each for each in STORIES if any(name.endswith(f"[{each}]") for name in chosen)]
    with our_trio() as trio:
        return play_all(trio, oracle, asked, read_recording)


@pytest.mark.parametrize("story", STORIES)
def test_tools_print_what_they_print_on_three_kafkas(story: str, ours: dict[str, Outcomes]) -> None:
    found = differences(story, read_recording(story), ours[story])
    assert not found, "\n\n".join(found)


def test_recordings_are_what_tools_print_on_three_kafkas_now(oracle: Oracle) -> None:
    with kafka_trio() as trio:
        played = play_all(trio, oracle, recorded=read_recording)
    found = [
        each
        for story, outcomes in played.items()
        for each in differences(story, read_recording(story), outcomes)
    ]
    assert not found, "\n\n".join(found)
