"""What a client hears of a log whose files are damaged: its partition fails, no other does."""

from __future__ import annotations

import logging

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.errors import CorruptLogError

log = logging.getLogger(__name__)


def damaged(error: CorruptLogError) -> BrokerError:
    """Says file and position in the broker's log; the client may only try another replica."""
    log.error("not served: %s", error)
    return BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, "the log is damaged")
