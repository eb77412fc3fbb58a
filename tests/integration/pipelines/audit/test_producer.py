"""What a producer counted against what is in the log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.integration.pipelines.audit.topics import START_MS, audit, create, records, write

from ottla.base.ids import TopicPartition
from ottla.client.admin import transactions
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.audit import producer_tier, report_log
from ottla.pipelines.audit.books import balance
from ottla.pipelines.audit.comparison import State
from ottla.pipelines.audit.producer_tier import AuditedProducer
from ottla.pipelines.audit.report_format import bucket_record
from ottla.pipelines.audit.report_log import AuditError, ReportWriter, read_reports

NOW_MS = 2**41


def produce(cluster: Cluster, topic: str, application: str, count: int) -> list[int]:
    seen: list[int] = []
    config = {"bootstrap.servers": cluster.settings.bootstrap_servers}
    with AuditedProducer(config, application) as producer:
        for number in range(count):
            producer.produce(
                topic,
                b"value %d" % number,
                key=None if number % 3 else b"k",
                headers=[("h", b"x")] if number % 2 else None,
                timestamp=START_MS + number,
                on_delivery=lambda _, message: seen.append(message.offset()),
            )
            producer.poll(0)
    return seen


def states(cluster: Cluster, tier: str) -> set[State]:
    books = balance(read_reports(cluster), NOW_MS)
    (book,) = [each for each in books if each.tier == tier]
    return {each.state for each in book.verdicts.values()}


def test_the_log_has_what_the_producer_counted_also_after_a_restart(cluster: Cluster) -> None:
    create(cluster, "checkout", 2)
    seen = produce(cluster, "checkout", "checkout", 50)
    assert len(seen) == 50, "the callback of the user is called too"
    produce(cluster, "checkout", "checkout", 70)
    audit(cluster, ["checkout"])
    assert states(cluster, "producer.checkout") == {State.COMPLETE}
    tier = read_reports(cluster)["producer.checkout"]
    assert sum(each.sums.count for each in tier.buckets.values() if each.sums) == 120


def test_records_of_others_are_not_taken_for_doubled_ones(cluster: Cluster) -> None:
    create(cluster, "shared")
    produce(cluster, "shared", "one-of-two", 20)
    write(cluster, TopicPartition("shared", 0), records(0, 5))
    produce(cluster, "shared", "one-of-two", 20)
    audit(cluster, ["shared"])
    assert states(cluster, "producer.one-of-two") == {State.NOT_AUDITED}


def test_a_log_that_lost_records_is_missing_them(cluster: Cluster) -> None:
    """Another topic stands for the log after the loss: its audit is reported under the same id."""
    create(cluster, "lossy")
    produce(cluster, "lossy", "lossy", 20)
    audit(cluster, ["lossy"])
    tiers = read_reports(cluster)
    counted = tiers["producer.lossy"]
    for key, report in counted.buckets.items():
        assert report.sums is not None
        log = tiers["broker"].buckets[key]
        assert log.sums is not None
        tiers["broker"].buckets[key] = replace(log, sums=replace(log.sums, count=19))
        place = next(iter(counted.coverage))
        coverage = tiers["broker"].coverage[place]
        total = tiers["broker"].buckets[key].sums
        tiers["broker"].coverage[place] = replace(coverage, total=total)
    (book,) = [each for each in balance(tiers, NOW_MS) if each.tier == "producer.lossy"]
    assert {each.state for each in book.verdicts.values()} == {State.MISSING}


def test_a_producer_that_starts_again_does_not_take_over_a_forged_report(
    cluster: Cluster,
) -> None:
    create(cluster, "deceived")
    produce(cluster, "deceived", "deceived", 20)
    forger = ReportWriter(cluster, "forger")
    ((key, report),) = forger.read()["producer.deceived"].buckets.items()
    assert report.sums is not None
    fewer = replace(report, sums=replace(report.sums, count=19))
    forger.write([bucket_record("producer.deceived", key, fewer, 20)])
    forger.close()
    produce(cluster, "deceived", "deceived", 20)
    audit(cluster, ["deceived"])
    assert states(cluster, "producer.deceived") == {State.FORGED}


def test_a_transactional_producer_is_refused(cluster: Cluster) -> None:
    config = {"bootstrap.servers": cluster.settings.bootstrap_servers, "transactional.id": "t"}
    with pytest.raises(AuditError, match="transactional"):
        AuditedProducer(config, "transactional")


def test_a_report_that_fails_is_repeated_and_does_not_reach_the_application(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(cluster, "failing")
    config = {"bootstrap.servers": cluster.settings.bootstrap_servers}
    sound = transactions.end_transaction
    failures = [OSError("the broker is away"), OSError("still away")]

    def fail(*arguments: Any, **named: Any) -> None:
        if failures:
            raise failures.pop()
        sound(*arguments, **named)

    with AuditedProducer(config, "failing") as producer:
        monkeypatch.setattr(report_log, "end_transaction", fail)
        for _ in range(3):
            producer.produce("failing", b"value", timestamp=START_MS)
            assert producer.flush() == 0
    assert not failures
    audit(cluster, ["failing"])
    assert states(cluster, "producer.failing") == {State.COMPLETE}


def test_counting_that_fails_counts_nothing_twice_and_calls_back(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for topic in ("counted-first", "counted-second"):
        create(cluster, topic)
    monkeypatch.setattr(producer_tier, "FOLD_AFTER", 2)
    sound, failures, seen = AuditedProducer._id_of, [OSError("away")], []

    def fail(self: AuditedProducer, topic: str) -> str:
        if topic == "counted-second" and failures:
            raise failures.pop()
        return sound(self, topic)

    monkeypatch.setattr(AuditedProducer, "_id_of", fail)
    config = {"bootstrap.servers": cluster.settings.bootstrap_servers}
    with AuditedProducer(config, "counting") as producer:
        for topic in ("counted-first", "counted-second"):
            producer.produce(
                topic, b"v", timestamp=START_MS, on_delivery=lambda *each: seen.append(each)
            )
            producer._producer.flush()
    assert (failures, len(seen)) == ([], 2)
    tier = read_reports(cluster)["producer.counting"]
    assert [each.sums.count for each in tier.buckets.values() if each.sums] == [1, 1]
