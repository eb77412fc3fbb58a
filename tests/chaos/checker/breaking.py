"""Ways to break a correct history, each one an anomaly that the checker must find.

Each function returns the broken history, or None if the history offers no place for it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from tests.chaos.checker.anomalies import Anomaly
from tests.chaos.checker.history import (
    Assign,
    History,
    Operation,
    Poll,
    Quantity,
    Read,
    Result,
    Send,
    Step,
)

Place = TypeVar("Place")
Break = Callable[[History, random.Random], History | None]


def _with(history: History, changed: dict[int, Operation]) -> History:
    """With other operations at these positions."""
    operations = [changed.get(at, each) for at, each in enumerate(history.operations)]
    return History.of(operations, history.observations)


def _with_step(history: History, at: int, step_at: int, step: Step) -> History:
    operation = history.operations[at]
    steps = (*operation.steps[:step_at], step, *operation.steps[step_at + 1 :])
    return _with(history, {at: replace(operation, steps=steps)})


def _without_reads(history: History, is_gone: Callable[[Read], bool]) -> History:
    def cut(operation: Operation) -> Operation:
        steps = tuple(
            step._replace(reads=tuple(read for read in step.reads if not is_gone(read)))
            if isinstance(step, Poll)
            else step
            for step in operation.steps
        )
        return replace(operation, steps=steps)

    return History.of(map(cut, history.operations), history.observations)


def _acknowledged(history: History) -> list[Send]:
    return [
        send
        for operation in history.operations
        if operation.result is Result.OK
        for send in operation.sends
    ]


def _choose(rng: random.Random, places: Sequence[Place]) -> Place | None:
    return rng.choice(places) if places else None


def two_values_at_one_offset(history: History, rng: random.Random) -> History | None:
    """A consumer reads another value than the others at the same offset."""
    places = [
        (at, step_at, read_at)
        for at, step_at, poll in _polls(history)
        for read_at in range(len(poll.reads) - 1)
        if poll.reads[read_at].key == poll.reads[read_at + 1].key
    ]
    if (place := _choose(rng, places)) is None:
        return None
    at, step_at, read_at = place
    reads = list(_poll_at(history, at, step_at).reads)
    reads[read_at] = reads[read_at]._replace(value=reads[read_at + 1].value)
    return _with_step(history, at, step_at, Poll(tuple(reads)))


def one_value_at_two_offsets(history: History, rng: random.Random) -> History | None:
    """The log has the same value again at its end."""
    ends = _ends(history)
    at, step_at, poll = list(_polls(history))[-1]
    if not poll.reads:
        return None
    read = rng.choice(poll.reads)
    again = read._replace(offset=ends[read.key])
    return _with_step(history, at, step_at, poll._replace(reads=(*poll.reads, again)))


def a_value_that_is_lost(history: History, rng: random.Random) -> History | None:
    polled = {(read.key, read.offset) for each in history.operations for read in each.reads}
    last = {key: max(offset for at, offset in polled if at == key) for key, _ in polled}
    places = [
        each for each in _acknowledged(history)
        if each.offset is not None and each.offset < last.get(each.key, -1)
    ]  # fmt: skip
    lost = _choose(rng, places)
    if lost is None:
        return None
    return _without_reads(history, lambda read: (read.key, read.value) == (lost.key, lost.value))


def values_that_no_consumer_reaches(history: History, rng: random.Random) -> History | None:
    hidden = _choose(rng, _acknowledged(history))
    if hidden is None or hidden.offset is None:
        return None
    end = hidden.offset
    return _without_reads(history, lambda read: read.key == hidden.key and read.offset >= end)


def an_aborted_value_that_is_read(history: History, rng: random.Random) -> History | None:
    polled = {(read.key, read.value) for each in history.operations for read in each.reads}
    places = [
        at for at, each in enumerate(history.operations)
        if each.is_transaction and any((send.key, send.value) in polled for send in each.sends)
    ]  # fmt: skip
    if (at := _choose(rng, places)) is None:
        return None
    return _with(history, {at: replace(history.operations[at], result=Result.FAILED)})


def a_transaction_that_reads_its_own_value(history: History, rng: random.Random) -> History | None:
    at = _choose(rng, _transactions(history))
    if at is None:
        return None
    operation = history.operations[at]
    own = rng.choice(list(operation.sends))
    poll = Poll((Read(own.key, own.offset or 0, own.value),))
    return _with(history, {at: replace(operation, steps=(*operation.steps, poll))})


def transactions_that_read_each_other(history: History, rng: random.Random) -> History | None:
    transactions = _transactions(history)
    if len(transactions) < 3:
        return None
    chosen = rng.sample(transactions, 3)
    changed = {}
    for at, other in zip(chosen, [*chosen[1:], chosen[0]], strict=True):
        send = next(history.operations[other].sends)
        poll = Poll((Read(send.key, send.offset or 0, send.value),))
        operation = history.operations[at]
        changed[at] = replace(operation, steps=(*operation.steps, poll))
    return _with(history, changed)


def a_poll_that_leaves_one_out(history: History, rng: random.Random) -> History | None:
    places = [
        (at, step_at, read_at)
        for at, step_at, poll in _polls(history)
        for read_at in range(1, len(poll.reads) - 1)
        if len({read.key for read in poll.reads[read_at - 1 : read_at + 2]}) == 1
    ]
    if (place := _choose(rng, places)) is None:
        return None
    at, step_at, read_at = place
    poll = _poll_at(history, at, step_at)
    reads = (*poll.reads[:read_at], *poll.reads[read_at + 1 :])
    return _with_step(history, at, step_at, poll._replace(reads=reads))


def a_poll_in_the_wrong_order(history: History, rng: random.Random) -> History | None:
    places = [
        (at, step_at, read_at)
        for at, step_at, poll in _polls(history)
        for read_at in range(len(poll.reads) - 1)
        if poll.reads[read_at].key == poll.reads[read_at + 1].key
    ]
    if (place := _choose(rng, places)) is None:
        return None
    at, step_at, read_at = place
    reads = list(_poll_at(history, at, step_at).reads)
    reads[read_at : read_at + 2] = reads[read_at + 1], reads[read_at]
    return _with_step(history, at, step_at, Poll(tuple(reads)))


def a_poll_that_starts_too_late(history: History, rng: random.Random) -> History | None:
    place = _choose(rng, _successors(history))
    if place is None:
        return None
    at, step_at, read_at, _ = place
    poll = _poll_at(history, at, step_at)
    following = [read for read in poll.reads[read_at:] if read.key == poll.reads[read_at].key]
    if len(following) < 2:
        return None
    reads = (*poll.reads[:read_at], *poll.reads[read_at + 1 :])
    return _with_step(history, at, step_at, poll._replace(reads=reads))


def a_poll_that_starts_too_early(history: History, rng: random.Random) -> History | None:
    place = _choose(rng, _successors(history))
    if place is None:
        return None
    at, step_at, read_at, before = place
    poll = _poll_at(history, at, step_at)
    reads = (*poll.reads[:read_at], before, *poll.reads[read_at:])
    return _with_step(history, at, step_at, poll._replace(reads=reads))


def sends_in_the_wrong_order(history: History, rng: random.Random) -> History | None:
    """Two operations of one process change places."""
    by_process: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for at, operation in enumerate(history.operations):
        for send in operation.sends:
            if send.offset is not None and not operation.is_transaction:
                by_process[operation.process, send.key].append(at)
    chosen = _choose(rng, [each for each in by_process.values() if len(each) > 1])
    if chosen is None:
        return None
    first, second = sorted(rng.sample(chosen, 2))
    one, another = history.operations[first], history.operations[second]
    return _with(
        history,
        {
            first: replace(one, start_s=another.start_s, end_s=another.end_s),
            second: replace(another, start_s=one.start_s, end_s=one.end_s),
        },
    )


def sends_of_a_transaction_in_the_wrong_order(
    history: History, rng: random.Random
) -> History | None:
    places = []
    for at in _transactions(history):
        steps = history.operations[at].steps
        for one, first in enumerate(steps):
            for another, second in enumerate(steps[one + 1 :], one + 1):
                if isinstance(first, Send) and isinstance(second, Send) and first.key == second.key:
                    places.append((at, one, another))
    if (place := _choose(rng, places)) is None:
        return None
    at, one, another = place
    changed = list(history.operations[at].steps)
    changed[one], changed[another] = changed[another], changed[one]
    return _with(history, {at: replace(history.operations[at], steps=tuple(changed))})


def a_value_without_a_writer(history: History, rng: random.Random) -> History | None:
    polled = {(read.key, read.value) for each in history.operations for read in each.reads}
    places = [
        at for at, each in enumerate(history.operations)
        if any((send.key, send.value) in polled for send in each.sends)
    ]  # fmt: skip
    if (gone := _choose(rng, places)) is None:
        return None
    return _with(history, {gone: replace(history.operations[gone], steps=())})


def a_high_watermark_that_goes_back(history: History, rng: random.Random) -> History | None:
    return _back(history, rng, Quantity.HIGH_WATERMARK)


def a_last_stable_offset_that_goes_back(history: History, rng: random.Random) -> History | None:
    return _back(history, rng, Quantity.LAST_STABLE_OFFSET)


def _back(history: History, rng: random.Random, quantity: Quantity) -> History | None:
    places = [
        at for at, each in enumerate(history.observations)
        if each.quantity is quantity and any(
            (before.quantity, before.key) == (quantity, each.key) and before.value > 0
            for before in history.observations[:at]
        )
    ]  # fmt: skip
    if (at := _choose(rng, places)) is None:
        return None
    observations = list(history.observations)
    lower = max(
        before.value for before in observations[:at]
        if (before.quantity, before.key) == (quantity, observations[at].key)
    )  # fmt: skip
    observations[at] = replace(observations[at], value=lower - 1)
    return History.of(history.operations, observations)


def _polls(history: History) -> Iterator[tuple[int, int, Poll]]:
    for at, operation in enumerate(history.operations):
        for step_at, step in enumerate(operation.steps):
            if isinstance(step, Poll):
                yield at, step_at, step


def _poll_at(history: History, at: int, step_at: int) -> Poll:
    poll = history.operations[at].steps[step_at]
    assert isinstance(poll, Poll)
    return poll


def _successors(history: History) -> list[tuple[int, int, int, Read]]:
    """First reads of a key in an operation, with the last read of it in one before."""
    found = []
    last: dict[tuple[str, str], Read] = {}
    for at, operation in enumerate(history.operations):
        seen = set[str]()
        for step_at, step in enumerate(operation.steps):
            is_reset = isinstance(step, Assign) or (isinstance(step, Poll) and step.rebalanced)
            if is_reset:
                last = {view: read for view, read in last.items() if view[0] != operation.process}
            for read_at, read in enumerate(step.reads if isinstance(step, Poll) else ()):
                view = (operation.process, read.key)
                if read.key not in seen and view in last:
                    found.append((at, step_at, read_at, last[view]))
                seen.add(read.key)
                last[view] = read
    return found


def _transactions(history: History) -> list[int]:
    """Of those that have sent something."""
    return [
        at
        for at, each in enumerate(history.operations)
        if each.is_transaction and any(True for _ in each.sends)
    ]


def _ends(history: History) -> dict[str, int]:
    ends: defaultdict[str, int] = defaultdict(int)
    for operation in history.operations:
        for read in operation.reads:
            ends[read.key] = max(ends[read.key], read.offset + 1)
        for send in operation.sends:
            if send.offset is not None:
                ends[send.key] = max(ends[send.key], send.offset + 1)
    return ends


BREAKS: dict[Break, Anomaly] = {
    two_values_at_one_offset: Anomaly.INCONSISTENT_OFFSETS,
    one_value_at_two_offsets: Anomaly.DUPLICATE,
    a_value_that_is_lost: Anomaly.LOST_WRITE,
    values_that_no_consumer_reaches: Anomaly.UNSEEN,
    an_aborted_value_that_is_read: Anomaly.ABORTED_READ,
    a_transaction_that_reads_its_own_value: Anomaly.PRECOMMITTED_READ,
    transactions_that_read_each_other: Anomaly.READ_CYCLE,
    a_poll_that_leaves_one_out: Anomaly.INTERNAL_POLL_SKIP,
    a_poll_in_the_wrong_order: Anomaly.INTERNAL_NONMONOTONIC_POLL,
    a_poll_that_starts_too_late: Anomaly.POLL_SKIP,
    a_poll_that_starts_too_early: Anomaly.NONMONOTONIC_POLL,
    sends_in_the_wrong_order: Anomaly.NONMONOTONIC_SEND,
    sends_of_a_transaction_in_the_wrong_order: Anomaly.INTERNAL_NONMONOTONIC_SEND,
    a_value_without_a_writer: Anomaly.PHANTOM,
    a_high_watermark_that_goes_back: Anomaly.HIGH_WATERMARK_BACK,
    a_last_stable_offset_that_goes_back: Anomaly.LAST_STABLE_OFFSET_BACK,
}
