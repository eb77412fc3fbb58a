"""How EndTxn is answered in every state of a transactional id, as Apache Kafka 4.3.1 does.

A history is what its producer, or another one, has done since InitProducerId. The columns say whose
request it is, by its epoch compared with that of the coordinator.

    ok       it has ended, or a repeated request is answered again
    ok +1    the same, and the response has the next epoch
    ok +0    the same, and the response has the current epoch
    state    INVALID_TXN_STATE
    fenced   PRODUCER_FENCED
    id       INVALID_PRODUCER_ID_MAPPING
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ottla.protocol.error_codes import ErrorCode

SENDERS = {"epoch before": -1, "current epoch": 0, "epoch ahead": 1, "other id": 0}
REQUESTS = ("commit", "abort", "commit v2", "abort v2")


class History(NamedTuple):
    name: str
    steps: tuple[str, ...]
    bumps: int = 0  # by how much the epoch has grown


NAMES = {
    ErrorCode.INVALID_TXN_STATE: "state",
    ErrorCode.PRODUCER_FENCED: "fenced",
    ErrorCode.INVALID_PRODUCER_ID_MAPPING: "id",
}


def shown(code: ErrorCode, bump: int) -> str:
    return f"ok {bump:+}" if code is ErrorCode.NONE else NAMES[code]


Answers = Mapping[str, tuple[str, ...]]


def answers(*rows: str) -> Answers:
    """One row a request; columns as in SENDERS."""
    cells = (tuple(map(str.strip, row.split("|"))) for row in rows)
    return dict(zip(REQUESTS, cells, strict=True))


# fmt: off
TABLE: Mapping[History, Answers] = {
    History("new", ()): answers(
        "fenced | state  | fenced | id",
        "fenced | state  | fenced | id",
        "fenced | state  | fenced | id",
        "fenced | ok +1  | fenced | id",
    ),
    History("open", ("add",)): answers(
        "fenced | ok     | fenced | id",
        "fenced | ok     | fenced | id",
        "fenced | ok +1  | fenced | id",
        "fenced | ok +1  | fenced | id",
    ),
    History("offsets only", ("add offsets",)): answers(
        "fenced | ok     | fenced | id",
        "fenced | ok     | fenced | id",
        "fenced | ok +1  | fenced | id",
        "fenced | ok +1  | fenced | id",
    ),
    History("open v2", ("produce",)): answers(
        "fenced | ok     | fenced | id",
        "fenced | ok     | fenced | id",
        "fenced | ok +1  | fenced | id",
        "fenced | ok +1  | fenced | id",
    ),
    History("committed", ("add", "commit")): answers(
        "fenced | ok     | fenced | id",
        "fenced | state  | fenced | id",
        "ok +0  | state  | fenced | id",
        "state  | ok +1  | fenced | id",
    ),
    History("aborted", ("add", "abort")): answers(
        "fenced | state  | fenced | id",
        "fenced | ok     | fenced | id",
        "state  | state  | fenced | id",
        "ok +0  | ok +1  | fenced | id",
    ),
    History("committed v2", ("produce", "commit v2"), bumps=1): answers(
        "fenced | ok     | fenced | id",
        "fenced | state  | fenced | id",
        "ok +0  | state  | fenced | id",
        "state  | ok +1  | fenced | id",
    ),
    History("aborted v2", ("produce", "abort v2"), bumps=1): answers(
        "fenced | state  | fenced | id",
        "fenced | ok     | fenced | id",
        "state  | state  | fenced | id",
        "ok +0  | ok +1  | fenced | id",
    ),
    History("aborted v2 without records", ("abort v2",), bumps=1): answers(
        "fenced | state  | fenced | id",
        "fenced | ok     | fenced | id",
        "state  | state  | fenced | id",
        "ok +0  | ok +1  | fenced | id",
    ),
    History("open, ended v2", ("add", "commit v2"), bumps=1): answers(
        "fenced | ok     | fenced | id",
        "fenced | state  | fenced | id",
        "ok +0  | state  | fenced | id",
        "state  | ok +1  | fenced | id",
    ),
    History("open v2, aborted classic", ("produce", "abort")): answers(
        "fenced | state  | fenced | id",
        "fenced | ok     | fenced | id",
        "state  | state  | fenced | id",
        "ok +0  | ok +1  | fenced | id",
    ),
    History("open v2, committed classic", ("produce", "commit")): answers(
        "fenced | ok     | fenced | id",
        "fenced | state  | fenced | id",
        "ok +0  | state  | fenced | id",
        "state  | ok +1  | fenced | id",
    ),
    History("fenced", ("add", "fence"), bumps=1): answers(
        "fenced | state  | fenced | id",
        "fenced | ok     | fenced | id",
        "state  | state  | fenced | id",
        "ok +0  | ok +1  | fenced | id",
    ),
    History("fenced v2", ("produce", "fence"), bumps=1): answers(
        "fenced | state  | fenced | id",
        "fenced | ok     | fenced | id",
        "state  | state  | fenced | id",
        "ok +0  | ok +1  | fenced | id",
    ),
    History("committed, init", ("add", "commit", "init"), bumps=1): answers(
        "fenced | state  | fenced | id",
        "fenced | state  | fenced | id",
        "fenced | state  | fenced | id",
        "fenced | ok +1  | fenced | id",
    ),
    History("committed v2, init", ("produce", "commit v2", "init"), bumps=2): answers(
        "fenced | state  | fenced | id",
        "fenced | state  | fenced | id",
        "fenced | state  | fenced | id",
        "fenced | ok +1  | fenced | id",
    ),
    History("fenced, init", ("add", "fence", "init"), bumps=2): answers(
        "fenced | state  | fenced | id",
        "fenced | state  | fenced | id",
        "fenced | state  | fenced | id",
        "fenced | ok +1  | fenced | id",
    ),
}
# fmt: on
