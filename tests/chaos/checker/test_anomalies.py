"""Each anomaly in the smallest history that has it, and histories that only look like it."""

from __future__ import annotations

from itertools import count

import pytest
from tests.chaos.checker.anomalies import Anomaly
from tests.chaos.checker.check import Verdict, check
from tests.chaos.checker.history import (
    Assign,
    History,
    Observation,
    Operation,
    Poll,
    Quantity,
    Read,
    Result,
    Send,
    Step,
    Subscribe,
)

OK, FAILED, UNKNOWN = Result.OK, Result.FAILED, Result.UNKNOWN


def judged(*operations: tuple[str, Result, tuple[Step, ...], bool]) -> Verdict:
    """One after the other, each a second long."""
    times = count()
    return check(
        History.of(
            Operation(process, at, at + 1, result, steps, is_transaction)
            for (process, result, steps, is_transaction), at in zip(operations, times, strict=False)
        )
    )


def op(
    process: str, *steps: Step, result: Result = OK
) -> tuple[str, Result, tuple[Step, ...], bool]:
    return process, result, steps, False


def txn(
    process: str, *steps: Step, result: Result = OK
) -> tuple[str, Result, tuple[Step, ...], bool]:
    return process, result, steps, True


def send(value: str, offset: int | None = None, key: str = "k") -> Send:
    return Send(key, value, offset)


def polled(*reads: tuple[int, str], key: str = "k", rebalanced: bool = False) -> Poll:
    return Poll(tuple(Read(key, offset, value) for offset, value in reads), rebalanced)


def illegal(verdict: Verdict) -> set[Anomaly]:
    return {each.anomaly for each in verdict.illegal}


THREE = tuple(op("p", send(value, offset)) for offset, value in enumerate("abc"))
ALL = ((0, "a"), (1, "b"), (2, "c"))


def test_a_plain_history_has_no_findings() -> None:
    verdict = judged(*THREE, op("c", Assign()), op("c", polled(*ALL)))
    assert verdict.findings == ()
    assert verdict.acknowledged == 3


# Offsets


def test_a_send_and_a_poll_disagree_about_an_offset() -> None:
    verdict = judged(op("p", send("a", 0)), op("p", send("b", 1)), op("c", polled((0, "b"))))
    assert Anomaly.INCONSISTENT_OFFSETS in illegal(verdict)


def test_two_sends_at_one_offset_that_were_never_polled() -> None:
    verdict = judged(op("p", send("a", 0)), op("q", send("b", 0)))
    assert Anomaly.INCONSISTENT_OFFSETS in illegal(verdict)


def test_the_same_offset_of_two_keys_may_have_two_values() -> None:
    verdict = judged(
        op("p", send("a", 0, "k")),
        op("p", send("b", 0, "l")),
        op("c", polled((0, "a"))),
        op("c", polled((0, "b"), key="l")),
    )
    assert illegal(verdict) == set()


def test_a_value_at_two_offsets() -> None:
    verdict = judged(op("p", send("a", 0)), op("c", polled((0, "a"), (1, "a"))))
    assert illegal(verdict) == {Anomaly.DUPLICATE}


def test_an_offset_that_two_consumers_poll_is_no_duplicate() -> None:
    verdict = judged(op("p", send("a", 0)), op("c", polled((0, "a"))), op("d", polled((0, "a"))))
    assert illegal(verdict) == set()


# Lost and unseen


def test_an_acknowledged_value_that_consumers_have_passed_is_lost() -> None:
    verdict = judged(*THREE, op("c", polled((0, "a"))), op("c", Assign()), op("c", polled(ALL[2])))
    assert illegal(verdict) == {Anomaly.LOST_WRITE}
    assert "b" in str(verdict.illegal[0])


def test_a_value_is_lost_if_another_one_is_polled_at_its_offset() -> None:
    verdict = judged(op("p", send("a", 0)), op("q", send("b")), op("c", polled((0, "b"))))
    assert illegal(verdict) == {Anomaly.LOST_WRITE, Anomaly.INCONSISTENT_OFFSETS}


@pytest.mark.parametrize("result", [FAILED, UNKNOWN])
def test_a_value_that_was_not_acknowledged_may_be_missing(result: Result) -> None:
    verdict = judged(
        op("p", send("a"), result=result), op("p", send("b", 1)), op("c", polled((1, "b")))
    )
    assert illegal(verdict) == set()


def test_an_acknowledged_value_that_no_consumer_has_reached_is_unseen() -> None:
    verdict = judged(*THREE, op("c", polled(*ALL[:2])))
    assert illegal(verdict) == {Anomaly.UNSEEN}


def test_an_acknowledged_value_without_an_offset_is_unseen() -> None:
    verdict = judged(op("p", send("a")), op("p", send("b", 1)), op("c", polled((1, "b"))))
    assert illegal(verdict) == {Anomaly.UNSEEN}


def test_values_of_a_committed_transaction_are_acknowledged() -> None:
    writes = (send("a", 0), send("b", 1))
    assert illegal(judged(txn("p", *writes))) == {Anomaly.UNSEEN}
    assert illegal(judged(txn("p", *writes, result=FAILED))) == set()


# Aborted and own values


def test_a_polled_value_of_an_aborted_transaction() -> None:
    verdict = judged(txn("p", send("a", 0), result=FAILED), op("c", polled((0, "a"))))
    assert illegal(verdict) == {Anomaly.ABORTED_READ}


def test_a_polled_value_of_a_transaction_with_an_unknown_result() -> None:
    verdict = judged(txn("p", send("a", 0), result=UNKNOWN), op("c", polled((0, "a"))))
    assert illegal(verdict) == set()


def test_a_transaction_that_polls_its_own_value() -> None:
    verdict = judged(txn("p", send("a", 0), polled((0, "a"))))
    assert illegal(verdict) == {Anomaly.PRECOMMITTED_READ}


def test_a_client_without_transactions_may_poll_its_own_value() -> None:
    assert illegal(judged(op("p", send("a", 0), polled((0, "a"))))) == set()


def test_a_transaction_may_poll_the_value_of_the_one_before() -> None:
    assert illegal(judged(txn("p", send("a", 0)), txn("p", polled((0, "a"))))) == set()


def test_a_value_that_no_client_has_sent() -> None:
    assert illegal(judged(op("c", polled((0, "a"))))) == {Anomaly.PHANTOM}


# Cycles


def test_transactions_that_poll_each_others_values() -> None:
    verdict = judged(
        txn("p", polled((0, "b"), key="l"), send("a", 0)),
        txn("q", polled((0, "a")), send("b", 0, "l")),
    )
    assert illegal(verdict) == {Anomaly.READ_CYCLE}


def test_a_chain_of_transactions_is_no_cycle() -> None:
    verdict = judged(
        txn("p", send("a", 0)),
        txn("q", polled((0, "a")), send("b", 0, "l")),
        txn("r", polled((0, "b"), key="l"), send("c", 0, "m")),
        op("c", polled((0, "c"), key="m")),
    )
    assert illegal(verdict) == set()


def test_operations_without_transactions_are_no_cycle() -> None:
    verdict = judged(
        op("p", send("a", 0), polled((0, "b"), key="l")),
        op("q", polled((0, "a")), send("b", 0, "l")),
    )
    assert illegal(verdict) == set()


def test_alternating_writes_are_counted_and_legal() -> None:
    verdict = judged(
        txn("p", send("a", 0), send("c", 2)),
        txn("q", send("b", 1), send("d", 3)),
        op("c", polled(*enumerate("abcd"))),
    )
    assert illegal(verdict) == set()
    assert verdict.counts == {Anomaly.INTERNAL_SEND_SKIP: 2, Anomaly.WRITE_CYCLE: 1}


# The order of polls


def test_a_poll_that_leaves_out_a_value() -> None:
    verdict = judged(*THREE, op("c", polled(ALL[0], ALL[2])), op("d", polled(*ALL)))
    assert illegal(verdict) == {Anomaly.INTERNAL_POLL_SKIP}


def test_a_transaction_that_leaves_out_a_value_between_two_polls() -> None:
    verdict = judged(*THREE, txn("c", polled(ALL[0]), polled(ALL[2])), op("d", polled(*ALL)))
    assert illegal(verdict) == {Anomaly.INTERNAL_POLL_SKIP}


def test_offsets_of_control_records_and_aborted_values_may_be_left_out() -> None:
    verdict = judged(
        txn("p", send("a", 0)),
        txn("p", send("b", 2), result=FAILED),
        txn("p", send("c", 4), result=UNKNOWN),
        txn("p", send("d", 6)),
        op("c", polled((0, "a"), (6, "d"))),
    )
    assert verdict.findings == ()


def test_a_poll_in_the_wrong_order() -> None:
    verdict = judged(*THREE, op("c", polled(ALL[1], ALL[0])), op("d", polled(*ALL)))
    assert illegal(verdict) == {Anomaly.INTERNAL_NONMONOTONIC_POLL}


def test_a_poll_that_has_a_value_twice() -> None:
    verdict = judged(op("p", send("a", 0)), op("c", polled((0, "a"), (0, "a"))))
    assert illegal(verdict) == {Anomaly.INTERNAL_NONMONOTONIC_POLL}


def test_values_left_out_between_two_polls() -> None:
    verdict = judged(
        *THREE, op("c", polled(ALL[0])), op("c", polled(ALL[2])), op("d", polled(*ALL))
    )
    assert illegal(verdict) == {Anomaly.POLL_SKIP}


@pytest.mark.parametrize("second", [ALL[0], ALL[1]])
def test_a_poll_that_starts_at_or_before_the_last_value(second: tuple[int, str]) -> None:
    verdict = judged(
        *THREE, op("c", polled(*ALL[:2])), op("c", polled(second)), op("d", polled(*ALL))
    )
    assert illegal(verdict) == {Anomaly.NONMONOTONIC_POLL}


@pytest.mark.parametrize("next_read", [ALL[0], ALL[2]])
def test_a_rebalance_an_assignment_and_a_subscription_allow_another_position(
    next_read: tuple[int, str],
) -> None:
    start = (*THREE, op("d", polled(*ALL)), op("c", polled(ALL[0])))
    rebalanced = op("c", polled(next_read, rebalanced=True))
    assert illegal(judged(*start, rebalanced)) == set()
    for step in (Assign(), Subscribe()):
        assert illegal(judged(*start, op("c", step), op("c", polled(next_read)))) == set()


def test_another_consumer_may_start_anywhere() -> None:
    verdict = judged(*THREE, op("c", polled(*ALL)), op("d", polled(ALL[1], ALL[2])))
    assert illegal(verdict) == set()


def test_polls_of_other_keys_lie_between() -> None:
    verdict = judged(
        op("p", send("a", 0)),
        op("p", send("x", 5, "l")),
        op("p", send("b", 1)),
        op("c", Poll((Read("k", 0, "a"), Read("l", 5, "x"), Read("k", 1, "b")))),
    )
    assert verdict.findings == ()


# The order of sends


def test_successive_sends_in_the_wrong_order() -> None:
    verdict = judged(
        op("p", send("a", 1)), op("p", send("b", 0)), op("c", polled((0, "b"), (1, "a")))
    )
    assert illegal(verdict) == {Anomaly.NONMONOTONIC_SEND}


def test_sends_without_answers_in_the_wrong_order_as_polled() -> None:
    verdict = judged(
        op("p", send("a"), result=UNKNOWN),
        op("p", send("b"), result=UNKNOWN),
        op("c", polled((0, "b"), (1, "a"))),
    )
    assert illegal(verdict) == {Anomaly.NONMONOTONIC_SEND}


def test_two_processes_send_in_any_order() -> None:
    verdict = judged(
        op("p", send("a", 1)), op("q", send("b", 0)), op("c", polled((0, "b"), (1, "a")))
    )
    assert illegal(verdict) == set()


def test_sends_of_one_transaction_in_the_wrong_order() -> None:
    verdict = judged(txn("p", send("a", 1), send("b", 0)), op("c", polled((0, "b"), (1, "a"))))
    assert illegal(verdict) == {Anomaly.INTERNAL_NONMONOTONIC_SEND}


def test_sends_of_one_transaction_to_two_keys_have_no_order() -> None:
    verdict = judged(
        txn("p", send("a", 7), send("b", 0, "l")),
        op("c", polled((7, "a"))),
        op("c", polled((0, "b"), key="l")),
    )
    assert verdict.findings == ()


# Views

BACK = {
    Quantity.HIGH_WATERMARK: Anomaly.HIGH_WATERMARK_BACK,
    Quantity.LAST_STABLE_OFFSET: Anomaly.LAST_STABLE_OFFSET_BACK,
    Quantity.LEADER_EPOCH: Anomaly.LEADER_EPOCH_BACK,
    Quantity.COMMITTED_OFFSET: Anomaly.COMMITTED_OFFSET_BACK,
}


@pytest.mark.parametrize("quantity", Quantity)
def test_a_quantity_that_goes_back(quantity: Quantity) -> None:
    seen = [Observation("w", at, quantity, "k", value) for at, value in enumerate([1, 5, 4, 6])]
    verdict = check(History.of([], seen))
    assert [each.anomaly for each in verdict.illegal] == [BACK[quantity]]
    assert "saw 5" in str(verdict.illegal[0])


def test_each_client_quantity_and_key_has_a_view_of_its_own() -> None:
    views = [
        Observation("w", 0, Quantity.HIGH_WATERMARK, "k", 5),
        Observation("v", 1, Quantity.HIGH_WATERMARK, "k", 4),
        Observation("w", 2, Quantity.LAST_STABLE_OFFSET, "k", 3),
        Observation("w", 3, Quantity.HIGH_WATERMARK, "l", 2),
        Observation("w", 4, Quantity.HIGH_WATERMARK, "k", 5),
    ]
    assert check(History.of([], views)).findings == ()


# Times


def test_the_lag_is_from_the_acknowledgement_to_the_first_poll() -> None:
    verdict = judged(
        op("p", send("a", 0)), op("q"), op("c", polled((0, "a"))), op("d", polled((0, "a")))
    )
    assert verdict.worst_lag_s == 2  # acknowledged at 1, polled at 3


def test_the_longest_gap_between_acknowledgements_of_each_key() -> None:
    verdict = judged(
        op("p", send("a", 0)), op("p", send("x", 0, "l")), op("q"), op("p", send("b", 1)),
        op("p", send("y", 1, "l")), op("p", send("c", 2)),
    )  # fmt: skip
    assert verdict.longest_gaps_s == {"k": 3, "l": 3}
