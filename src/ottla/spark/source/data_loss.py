"""What a query does about records that are gone: the option `failOnDataLoss`."""

from __future__ import annotations

import logging

from ottla.spark.errors import DataLoss

log = logging.getLogger("ottla.spark")


def report_loss(what: str, is_strict: bool) -> None:
    """An error, or a warning where the option allows the query to continue."""
    if is_strict:
        raise DataLoss(what)
    log.warning("%s Continuing, because failOnDataLoss is false.", what)
