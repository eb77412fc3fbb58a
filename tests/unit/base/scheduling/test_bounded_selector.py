"""What is ready is reported in parts, and nothing is passed over."""

from __future__ import annotations

import selectors
import socket
from contextlib import ExitStack

import pytest

from ottla.base.scheduling.bounded_selector import new_selector

pytestmark = pytest.mark.skipif(not hasattr(selectors, "EpollSelector"), reason="no epoll")


def test_all_that_are_ready_are_reported_some_at_a_time() -> None:
    with ExitStack() as stack:
        selector = stack.enter_context(new_selector(ready_max=8))
        for number in range(30):
            ours, theirs = socket.socketpair()
            stack.enter_context(ours)
            stack.enter_context(theirs)
            selector.register(ours, selectors.EVENT_READ, number)
            theirs.send(b"x")
        reported = [[key.data for key, _ in selector.select(0)] for _ in range(4)]
    assert [len(each) for each in reported] == [8, 8, 8, 8]
    assert {number for each in reported for number in each} == set(range(30))


def test_a_selector_of_nothing_waits_for_its_time() -> None:
    with new_selector() as selector:
        assert selector.select(0.001) == []
