"""The page of the audit: one HTML file that loads nothing else.

Owns      the data of the page, and replacing files atomically.
Promises  names of topics are data, and never become markup. A bucket that was not audited has a
          colour of its own, and no percentage.
Leaves    the layout to `page_template.py`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ottla.pipelines.audit.books import UNCOUNTED, TopicBook, share_of
from ottla.pipelines.audit.comparison import State, Verdict
from ottla.pipelines.audit.page_template import TEMPLATE
from ottla.pipelines.sums.record_sums import UNDATED, BucketKey

BUCKETS_MAX = 7 * 24 * 6  # a week
# The state of several partitions together is the first of these that one of them has.
WORST_FIRST = (
    State.FORGED, State.MISSING, State.LOST_AND_DOUBLED, State.DOUBLED, State.CHANGED,
    State.NOT_AUDITED, State.LATE, State.OPEN, State.COMPLETE,
)  # fmt: skip


def page_html(books: Sequence[TopicBook], now_ms: int) -> str:
    data = {"now": now_ms, "books": [_book(each) for each in books]}
    # `<` would end the script element, wherever it is.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return TEMPLATE.replace("@DATA@", text)


def _book(book: TopicBook) -> dict[str, Any]:
    by_bucket: dict[int, dict[BucketKey, Verdict]] = {}
    for key, verdict in book.verdicts.items():
        by_bucket.setdefault(key.bucket, {})[key] = verdict
    latest = sorted(by_bucket)[-BUCKETS_MAX:]
    return {
        "topic": book.topic,
        "tier": book.tier,
        "verified": book.is_verified,
        "percent": book.percent,
        "until": book.complete_until_ms,
        "lag": book.lag_ms,
        "buckets": [_bucket(by_bucket[number]) for number in latest],
    }


def _bucket(verdicts: Mapping[BucketKey, Verdict]) -> dict[str, Any]:
    key = next(iter(verdicts))
    states = {each.state for each in verdicts.values()}
    delays = [each.delay_ms for each in verdicts.values() if each.delay_ms is not None]
    return {
        "at": None if key.bucket == UNDATED else key.start_ms,
        "state": next(each.value for each in WORST_FIRST if each in states),
        "share": None if states.intersection(UNCOUNTED) else share_of(verdicts.values()),
        "delay": max(delays, default=None),
        "partitions": [
            [
                each.partition,
                verdict.state.value,
                verdict.expected,
                verdict.found,
                verdict.late,
                verdict.reason,
            ]
            for each, verdict in sorted(verdicts.items())
        ],
    }


def write_file(path: str | Path, text: str) -> None:
    target = Path(path)
    new = target.with_name(f".{target.name}.new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, target)
