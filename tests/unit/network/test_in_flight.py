"""Answers come out in the order in which their requests began."""

import random

import pytest

from ottla.network.in_flight import InFlightRequests
from ottla.network.request_server import Answer


@pytest.mark.parametrize("seed", range(20))
def test_answers_come_out_in_order_whenever_they_are_ready(seed: int) -> None:
    rng, order = random.Random(seed), InFlightRequests()
    answers = [Answer([b"%d" % number]) for number in range(30)]
    waiting = [(order.begin(10, is_taking_effect=False), answer) for answer in answers]
    rng.shuffle(waiting)
    out = []
    for begun, answer in waiting:
        order.complete(begun, answer)
        while (ready := order.take_answer()) is not None:
            out.append(ready)
    assert out == answers
    assert order.frame_bytes == 0


def test_a_working_request_is_known_until_it_is_ready() -> None:
    order = InFlightRequests()
    order.begin(5, is_taking_effect=False)
    youngest = order.begin(7, is_taking_effect=True)
    assert order.taking_effect is youngest
    assert order.frame_bytes == 12
    order.complete(youngest, Answer([]))
    assert order.taking_effect is None


def test_giving_up_returns_what_has_no_answer_and_marks_it() -> None:
    order = InFlightRequests()
    begun = [order.begin(1, is_taking_effect=False) for _ in range(3)]
    order.complete(begun[1], Answer([]))
    assert order.abandon() == [begun[0], begun[2]]
    assert [each.is_abandoned for each in begun] == [True, False, True]
    assert order.take_answer() is None
    assert order.frame_bytes == 0
