"""Nothing lost, nothing twice, for any process and time of a kill: one here, all of them with

python -m tests.integration.spark.sink.crashes
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.spark.sink.crashes import DRIVER, OttlaNode, Story

from ottla.base.fault_points import SinkPoint

pytestmark = [pytest.mark.ci, pytest.mark.slow, pytest.mark.usefixtures("spark_jvm")]


def test_a_drivers_death_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    """In the worst moment: some transactions of a batch are committed, others not."""
    node = OttlaNode(tmp_path / "node")
    node.start()
    try:
        story = Story(node, tmp_path)
        story.begin()
        assert story.step(SinkPoint.FIRST_COMMITTED, DRIVER).trouble == ""
    finally:
        node.close()
