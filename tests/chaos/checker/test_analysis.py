"""What the analysis finds of a history before anything is judged."""

from __future__ import annotations

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.history import History, Operation, Result, Send


def test_a_value_that_a_client_has_sent_twice_to_a_key_is_named() -> None:
    """A writer that uses names again after a failed transaction makes duplicates by itself."""
    failed = Operation("w", 0, 1, Result.UNKNOWN, (Send("t-0", "w:1"), Send("t-0", "w:2")), True)
    again = Operation("w", 2, 3, Result.OK, (Send("t-0", "w:1", 8), Send("t-1", "w:2", 9)), True)
    assert Analysis(History.of([failed, again])).sent_twice == [("t-0", "w:1")]
