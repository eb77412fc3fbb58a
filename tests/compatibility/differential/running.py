"""Runs scripts against a broker, each on a broker in the state that it needs."""

from __future__ import annotations

import traceback
from collections.abc import Iterable

from tests.compatibility.differential.readiness import is_untouched, make_ready
from tests.compatibility.differential.scripting import BrokerState, Run
from tests.compatibility.differential.session import Answers, Session

FAILED = "the script could not continue"


def run_all(address: str, runs: Iterable[Run]) -> dict[Run, Answers]:
    """All answers, in the order of `runs`. Scripts that need an unused broker come first."""
    wanted = list(runs)
    untouched = [run for run in wanted if run.script.broker_state is BrokerState.UNTOUCHED]
    assert not untouched or is_untouched(address), f"{address} has internal topics already"
    answered = {run: run_one(address, run) for run in untouched}
    make_ready(address)
    answered |= {run: run_one(address, run) for run in wanted if run not in answered}
    return {run: answered[run] for run in wanted}


def run_one(address: str, run: Run) -> Answers:
    """What was answered. An answer that a script cannot continue from is the last one it gets."""
    session = Session(address, run)
    try:
        run.script.function(session)
    except Exception:
        last = next(reversed(session.answers), None)
        session.answers[FAILED] = f"after {last!r}: {traceback.format_exc()}"
    finally:
        session.close()
    return session.answers
