"""The fold in a Spark job: the same books as in one process."""

from __future__ import annotations

from typing import Any

import pytest
from tests.integration.pipelines.audit.topics import (
    audit,
    create,
    records,
    write,
    write_transaction,
)

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.audit.spark_fold import SparkEngine

pytestmark = pytest.mark.xdist_group("spark")


def test_a_spark_job_folds_what_one_process_folds(spark: Any, cluster: Cluster) -> None:
    create(cluster, "spark-fold", 3)
    for partition in range(3):
        at = TopicPartition("spark-fold", partition)
        write(cluster, at, records(0, 500 + partition))
        write_transaction(cluster, at, records(0, 30), commit=partition == 1)
    engine = SparkEngine(spark, cluster.settings)
    found = audit(cluster, ["spark-fold"], tier="in-spark", engine=engine, step_offsets=700)
    whole = audit(cluster, ["spark-fold"], tier="in-one-process")
    assert {key: (each.sums, each.aborted) for key, each in found.buckets.items()} == {
        key: (each.sums, each.aborted) for key, each in whole.buckets.items()
    }
    assert sum(each.sums.count for each in found.buckets.values() if each.sums) == 1533
    assert sum(each.aborted.count for each in found.buckets.values() if each.aborted) == 60
