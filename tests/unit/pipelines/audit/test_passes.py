"""A tier that is reported again is as it is now: what it no longer has is deleted."""

from __future__ import annotations

from tests.unit.pipelines.audit.records import row
from tests.unit.pipelines.audit.test_comparison import NOW_MS, ROWS, tier

from ottla.pipelines.audit.passes import replacing
from ottla.pipelines.audit.report_format import apply_record
from ottla.pipelines.audit.reports import Tier, keeping_times

SECOND = [row(n) for n in range(60, 100)]


def applied(tiers: dict[str, Tier], known: Tier, after: Tier) -> None:
    for key, value in replacing(known, after):
        apply_record(tiers, key, value)


def test_what_is_no_longer_there_is_deleted() -> None:
    tiers: dict[str, Tier] = {}
    first, second = tier("lake", [*ROWS, *SECOND]), tier("lake", SECOND)
    applied(tiers, Tier("lake"), first)
    assert tiers["lake"] == first
    applied(tiers, first, second)
    assert tiers["lake"] == second
    applied(tiers, second, Tier("lake", second.kind))
    assert (tiers["lake"].buckets, tiers["lake"].coverage) == ({}, {})


def test_only_what_changed_is_written() -> None:
    first = tier("lake", [*ROWS, *SECOND])
    again = tier("lake", [*ROWS, *SECOND[1:]])
    assert len(replacing(first, first)) == 2, "the tier and its coverage"
    assert len(replacing(first, again)) == 3


def test_reports_that_say_the_same_keep_their_time() -> None:
    found = tier("lake", ROWS).buckets
    first = keeping_times({}, found, NOW_MS)
    assert {each.changed_ms for each in first.values()} == {NOW_MS}
    assert keeping_times(first, found, NOW_MS + 5) == first
    fewer = tier("lake", ROWS[1:]).buckets
    assert {each.changed_ms for each in keeping_times(first, fewer, NOW_MS + 5).values()} == {
        NOW_MS + 5
    }
