"""Errors of TxnOffsetCommit are those of a group coordinator, after which clients retry."""

from __future__ import annotations

import pytest

from ottla.handlers.txn_offset_commit import as_group_error
from ottla.protocol.error_codes import ErrorCode


@pytest.mark.parametrize(
    ("of_the_verification", "answered"),
    [
        # The coordinator of the transaction cannot be reached, or has moved.
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_errors_of_the_verification_are_errors_of_a_coordinator(
    of_the_verification: ErrorCode, answered: ErrorCode
) -> None:
    assert as_group_error(of_the_verification, version=3) is answered
