"""Verification of bytes that have not been verified since their file was opened.

Promises  the event loop does not wait for it. Damaged records are not served: their partition gets
          CORRUPT_MESSAGE; a disk that cannot be read, KAFKA_STORAGE_ERROR. A range that was
          truncated or deleted during the check is not damaged: the partition is read again.
Leaves    what is checked to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.handlers.fetching.partition_read import NOTHING, PartitionRead, failed
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.read_range import RangeCheck

log = logging.getLogger(__name__)

READ_AGAIN_MAX = 3  # then the client gets no records, and fetches again

CHECKED_AT_ONCE = 100  # outcomes that are processed in one iteration of the event loop

ReadAgain = Callable[[PartitionRead], Awaitable[PartitionRead]]


async def check_all(
    found: list[PartitionRead],
    unchecked: list[int],
    read_again: ReadAgain,
    scheduler: StepScheduler,
) -> None:
    """Check the entries of `found` at the indexes `unchecked`; replace those that failed."""
    for _ in range(READ_AGAIN_MAX):
        checks = [found[at].check for at in unchecked]
        outcomes = await scheduler.in_thread(partial(run_checks, checks))
        still_unchecked = []
        for number, (at, error) in enumerate(zip(unchecked, outcomes, strict=True), 1):
            found[at] = await outcome_of(found[at], error, read_again)
            if found[at].check is not None:
                still_unchecked.append(at)
            if number % CHECKED_AT_ONCE == 0:
                await scheduler.next()
        if not still_unchecked:
            return
        unchecked = still_unchecked
    for at in unchecked:
        found[at].answer.records = NOTHING
        found[at] = found[at]._replace(check=None)


def run_checks(checks: list[RangeCheck | None]) -> list[Exception | None]:
    """Runs in a thread: the error of each, or None."""
    errors: list[Exception | None] = []
    for check in checks:
        assert check is not None
        try:
            check.run()
        except (CorruptLogError, OSError) as error:
            errors.append(error)
        else:
            errors.append(None)
    return errors


async def outcome_of(
    found: PartitionRead, error: Exception | None, read_again: ReadAgain
) -> PartitionRead:
    assert found.check is not None
    if not found.check.is_current:
        return await read_again(found)
    if error is None:
        found.check.confirm()
        return found._replace(check=None)
    log.error("%s: not served: %s", found.partition, error)
    if isinstance(error, CorruptLogError) and found.partition is not None:
        found.partition.report_damage(error)
    return PartitionRead(found.wanted, failed(found.wanted, code_of(found, error)), found.partition)


def code_of(found: PartitionRead, error: Exception) -> ErrorCode:
    if not isinstance(error, OSError):
        return ErrorCode.CORRUPT_MESSAGE
    assert found.partition is not None
    partition_log = found.partition.log
    failure: BrokerError = partition_log.health.refused(f"reading {partition_log.path}", error)
    return failure.code
