"""The error of a fenced producer: PRODUCER_FENCED, or INVALID_PRODUCER_EPOCH for older clients."""

from __future__ import annotations

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


def as_fencing_error(error: BrokerError, knows_fenced: bool) -> BrokerError:
    return BrokerError(fencing_code(error.code, knows_fenced), error.message)


def fencing_code(code: ErrorCode, knows_fenced: bool) -> ErrorCode:
    is_fenced = code is ErrorCode.PRODUCER_FENCED
    return ErrorCode.INVALID_PRODUCER_EPOCH if is_fenced and not knows_fenced else code
