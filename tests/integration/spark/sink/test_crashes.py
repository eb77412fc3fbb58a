"""Nothing lost, nothing twice, whoever is killed and when: two deaths here, all of them with

python -m tests.integration.spark.sink.crashes
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.spark.sink.crashes import BROKER, DRIVER, OttlaNode, Story

from ottla.base.fault_points import SinkPoint

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("victim", "point"),
    [(DRIVER, SinkPoint.FIRST_COMMITTED), (BROKER, SinkPoint.WRITTEN)],
    ids=lambda each: each if isinstance(each, str) else each.value,
)
def test_a_death_loses_nothing_and_doubles_nothing(
    tmp_path: Path, victim: str, point: SinkPoint
) -> None:
    node = OttlaNode(tmp_path / "node")
    node.start()
    try:
        story = Story(node, tmp_path)
        story.begin()
        assert story.step(point, victim).trouble == ""
    finally:
        node.close()
