"""A pipeline whose driver is killed: one point for each format here, all of them with

python -m tests.integration.pipelines.crashes
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.integration.pipelines.crashes import DRIVER, Case, crash

from ottla.base.fault_points import PipelinePoint
from ottla.testing import Kafka

pytestmark = [pytest.mark.ci, pytest.mark.slow, pytest.mark.usefixtures("spark_jvm")]


@pytest.mark.parametrize(
    ("form", "point"),
    [
        ("parquet", PipelinePoint.HALF_PUBLISHED),
        ("delta", PipelinePoint.DECIDED),
        ("iceberg", PipelinePoint.SIDE_COMMITTED),
    ],
)
def test_a_killed_driver_changes_nothing(
    kafka: Kafka, tmp_path: Path, form: str, point: PipelinePoint
) -> None:
    topic = kafka.topic("orders", partitions=3)
    assert crash(kafka.bootstrap_servers, topic, tmp_path, Case(form, DRIVER, point)) == []
