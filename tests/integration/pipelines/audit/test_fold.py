"""The books of a log: every committed record once, whatever happens to the audit."""

from __future__ import annotations

import pytest
from tests.integration.pipelines.audit.topics import (
    START_MS,
    audit,
    create,
    records,
    write,
    write_transaction,
)

from ottla.base.ids import TopicPartition
from ottla.client.admin.topics import delete_records
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ProducerFenced
from ottla.pipelines.audit.report_log import (
    AuditError,
    ReportWriter,
    make_topic_ready,
    read_reports,
)
from ottla.pipelines.audit.reports import inconsistent_partitions
from ottla.pipelines.sums.record_sums import BUCKET_MS

FIRST_BUCKET = START_MS // BUCKET_MS


def test_every_record_is_counted_once_in_any_number_of_passes(cluster: Cluster) -> None:
    create(cluster, "passes", 2)
    for first in (0, 100, 250):
        write(cluster, TopicPartition("passes", 0), records(first, first + 90))
        write(cluster, TopicPartition("passes", 1), records(first, first + 5))
        audit(cluster, ["passes"], tier="passes", step_offsets=37)
        audit(cluster, ["passes"], tier="passes")
    steps = audit(cluster, ["passes"], tier="passes")
    whole = audit(cluster, ["passes"], tier="passes-at-once")
    sums = {key: each.sums for key, each in steps.buckets.items()}
    assert sums == {key: each.sums for key, each in whole.buckets.items()}
    assert sum(each.count for each in sums.values() if each) == 3 * 95
    assert inconsistent_partitions(steps) == []
    covers = {at.partition: each.covers for at, each in steps.coverage.items()}
    assert covers == {0: 270, 1: 15}


def test_aborted_records_are_counted_apart(cluster: Cluster) -> None:
    create(cluster, "aborted")
    at = TopicPartition("aborted", 0)
    write_transaction(cluster, at, records(0, 60), commit=True)
    write_transaction(cluster, at, records(0, 130), commit=False)
    write(cluster, at, records(60, 70))
    found = audit(cluster, ["aborted"], tier="aborted", step_offsets=45)
    counts = {
        key.bucket - FIRST_BUCKET: (
            each.sums.count if each.sums else 0,
            each.aborted.count if each.aborted else 0,
        )
        for key, each in found.buckets.items()
    }
    assert counts == {0: (60, 60), 1: (10, 60), 2: (0, 10)}


def test_an_open_transaction_holds_the_audit_back(cluster: Cluster) -> None:
    from ottla.client.admin.transactions import end_transaction, init_producer_id
    from ottla.client.producing.producer import BatchProducer
    from ottla.protocol.records.building import build_batch

    create(cluster, "pending")
    at = TopicPartition("pending", 0)
    write(cluster, at, records(0, 10))
    identity = init_producer_id(cluster, "pending")
    with BatchProducer(cluster, identity, "pending") as producer:
        producer.send(at, build_batch(records(10, 20), is_transactional=True))
        producer.flush()
    write(cluster, at, records(20, 30))
    (held,) = audit(cluster, ["pending"], tier="pending").coverage.values()
    assert held.covers == 10
    end_transaction(cluster, "pending", identity, commit=True)
    found = audit(cluster, ["pending"], tier="pending")
    assert [each.sums.count for each in found.buckets.values() if each.sums] == [30]


def test_retention_that_was_faster_is_a_gap(cluster: Cluster) -> None:
    create(cluster, "deleted")
    at = TopicPartition("deleted", 0)
    write(cluster, at, records(0, 30))
    audit(cluster, ["deleted"], tier="deleted")
    write(cluster, at, records(30, 90))
    delete_records(cluster, {at: 70})
    found = audit(cluster, ["deleted"], tier="deleted")
    (coverage,) = found.coverage.values()
    assert (coverage.covers, coverage.gaps) == (90, ((30, 70),))
    assert sum(each.sums.count for each in found.buckets.values() if each.sums) == 30 + 20


def test_retention_between_planning_and_reading_is_a_gap_too(cluster: Cluster) -> None:
    from ottla.pipelines.audit.log_fold import fold_range

    create(cluster, "overtaken")
    at = TopicPartition("overtaken", 0)
    write(cluster, at, records(0, 90))

    def engine(ranges):  # type: ignore[no-untyped-def]
        delete_records(cluster, {at: 50})
        return [fold_range(cluster, each) for each in ranges]

    found = audit(cluster, ["overtaken"], tier="overtaken", engine=engine)
    (coverage,) = found.coverage.values()
    assert (coverage.start, coverage.covers, coverage.gaps) == (0, 90, ((0, 50),))
    assert sum(each.sums.count for each in found.buckets.values() if each.sums) == 40


def test_a_topic_that_was_created_again_has_books_of_its_own(cluster: Cluster) -> None:
    from ottla.client.admin.topics import delete_topics

    for _ in range(2):
        create(cluster, "again")
        write(cluster, TopicPartition("again", 0), records(0, 10))
        found = audit(cluster, ["again"], tier="again")
        delete_topics(cluster, ["again"])
    assert len(found.coverage) == 2
    assert [each.sums.count for each in found.buckets.values() if each.sums] == [10, 10]


def test_a_second_audit_fences_the_first(cluster: Cluster) -> None:
    create(cluster, "fenced")
    make_topic_ready(cluster)
    first = ReportWriter(cluster, "fenced")
    second = ReportWriter(cluster, "fenced")
    with pytest.raises(ProducerFenced):
        first.write([(b'["tier","fenced"]', b'{"version":1,"kind":"broker","source":"first"}')])
    second.write([(b'["tier","fenced"]', b'{"version":1,"kind":"broker","source":"second"}')])
    assert read_reports(cluster)["fenced"].source == "second"


def test_a_topic_that_would_lose_reports_is_refused(cluster: Cluster) -> None:
    create(cluster, "not-compacted")
    with pytest.raises(AuditError, match=r"cleanup\.policy=delete"):
        make_topic_ready(cluster, "not-compacted")


def test_records_of_others_in_the_topic_change_nothing(cluster: Cluster) -> None:
    create(cluster, "noise")
    write(cluster, TopicPartition("noise", 0), records(0, 10))
    before = audit(cluster, ["noise"], tier="noise", report_topic="noisy-audit")
    write(cluster, TopicPartition("noisy-audit", 0), records(0, 5))
    assert read_reports(cluster, "noisy-audit")["noise"] == before
