"""A short line between threads."""

from __future__ import annotations

import threading

from ottla.client.fetching.bounded_queue import BoundedQueue


def test_items_come_out_in_the_order_in_which_they_went_in() -> None:
    line: BoundedQueue[int] = BoundedQueue(2)
    found = []

    def put_all() -> None:
        for number in range(100):
            assert line.put(number)

    thread = threading.Thread(target=put_all)
    thread.start()
    found = [line.get(10) for _ in range(100)]
    thread.join()
    assert found == list(range(100))


def test_nothing_in_time_is_none() -> None:
    assert BoundedQueue[int](1).get(0.01) is None


def test_closing_lets_go_of_whoever_waits_for_room() -> None:
    line: BoundedQueue[int] = BoundedQueue(1)
    line.put(1)
    results = []
    thread = threading.Thread(target=lambda: results.append(line.put(2)))
    thread.start()
    line.close()
    thread.join()
    assert results == [False]
    assert line.get(0.01) is None
