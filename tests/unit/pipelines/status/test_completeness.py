"""The status of a pipeline contains what the audit found in its table, or nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.unit.pipelines.audit.test_comparison import FULL, KEY, NOW_MS, PLACE, ROWS, tier

from ottla.pipelines.audit.reports import BOOKED, Tier
from ottla.pipelines.status.completeness import Completeness, completeness_of


def tiers(*others: Tier) -> dict[str, Tier]:
    return {each.name: each for each in (tier("broker", ROWS), *others)}


def counted(name: str, lake: Path, missing: int = 0) -> Tier:
    return replace(tier(name, ROWS[missing:]), source=str(lake))


def test_the_tier_of_the_table_is_found_by_its_directory(tmp_path: Path) -> None:
    found = tiers(counted("one", tmp_path / "one", 15), counted("two", tmp_path / "two"))
    lake = str(tmp_path / "two" / ".." / "one")
    assert completeness_of(found, lake, NOW_MS) == Completeness(0.75, KEY.start_ms, "75.000 %")
    two = completeness_of(found, str(tmp_path / "two"), NOW_MS)
    assert two == Completeness(1, KEY.end_ms, "100 %")


def test_a_table_that_was_only_booked_or_not_at_all_is_not_audited(tmp_path: Path) -> None:
    booked = replace(counted("lake.booked", tmp_path), kind=BOOKED)
    for found in ({}, tiers(), tiers(booked), {"lake": counted("lake", tmp_path)}):
        assert completeness_of(found, str(tmp_path), NOW_MS) == Completeness()


def test_of_two_names_of_a_table_the_newest_count_is_shown(tmp_path: Path) -> None:
    old = counted("old", tmp_path, 15)
    old.coverage[PLACE] = replace(old.coverage[PLACE], at_ms=FULL.at_ms - 1)
    found = tiers(old, counted("new", tmp_path))
    assert completeness_of(found, str(tmp_path), NOW_MS).share == 1
