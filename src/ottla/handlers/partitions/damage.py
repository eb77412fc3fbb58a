"""The error for a log with damaged files: only its partition fails."""

from __future__ import annotations

import logging

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition import Partition
from ottla.storage.errors import CorruptLogError

log = logging.getLogger(__name__)


def damaged(partition: Partition, error: CorruptLogError) -> BrokerError:
    """File and position are logged here; the client can only try another replica, which leads as
    soon as the controller knows of the damage, if there is one."""
    log.error("not served: %s", error)
    partition.report_damage(error)
    return BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, "the log is damaged")
