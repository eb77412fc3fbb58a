"""The error for a log with damaged files: only its partition fails."""

from __future__ import annotations

import logging

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import CorruptLogError

log = logging.getLogger(__name__)


def damaged(error: CorruptLogError) -> BrokerError:
    """File and position are logged here; the client can only try another replica."""
    log.error("not served: %s", error)
    return BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, "the log is damaged")
