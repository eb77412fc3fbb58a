"""How complete the table of a pipeline is, by the reports of the audit.

Owns      which tier of the audit is that table.
Leaves    what the reports mean to `audit/books.py`. Nothing is counted here: without an audit the
          answer is that of its last pass, and `until_ms` stays behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ottla.pipelines.audit.books import balance, percent_of, percent_text, share_of
from ottla.pipelines.audit.reports import COUNTED, Tier


@dataclass(frozen=True)
class Completeness:
    share: float | None = None  # None: not audited
    until_ms: int | None = None  # every record before is in the table; None: not known of any time
    percent: str = percent_text(None)


def completeness_of(tiers: Mapping[str, Tier], lake: str, now_ms: int) -> Completeness:
    """The completeness over all topics of the table in the directory `lake`."""
    tier = _counted_tier(tiers, Path(lake).resolve())
    books = [each for each in balance(tiers, now_ms) if tier is not None and each.tier == tier.name]
    if not books or any(each.audited_until_ms is None for each in books):
        return Completeness()
    share = share_of(verdict for each in books for verdict in each.verdicts.values())
    percent = percent_of(share, (fault for each in books for fault in each.faults.values()))
    ends = [each.complete_until_ms for each in books]
    known = [end for end in ends if end is not None]
    return Completeness(share, min(known) if len(known) == len(ends) else None, percent)


def _counted_tier(tiers: Mapping[str, Tier], directory: Path) -> Tier | None:
    """The one that was counted last, if the table has several names."""
    found = [
        each
        for each in tiers.values()
        if each.kind == COUNTED and Path(each.source).resolve() == directory
    ]
    return max(found, key=_counted_at, default=None)


def _counted_at(tier: Tier) -> int:
    return max((each.at_ms for each in tier.coverage.values()), default=0)
