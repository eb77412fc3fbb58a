"""Handling of deleted records: the option `failOnDataLoss`."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from ottla.spark.errors import DataLoss

log = logging.getLogger("ottla.spark")

CONTINUE = "Set the option failOnDataLoss to false to continue with what is still there"
NEW_CHECKPOINT = ", or start the query with a new checkpointLocation"


@dataclass(frozen=True)
class LossPolicy:
    """`is_strict` is the option; only a stream has a checkpoint to replace."""

    is_strict: bool = True
    is_stream: bool = False

    def report(self, what: str) -> None:
        """DataLoss with what can be done, or a warning where the option allows to continue."""
        if self.is_strict:
            raise DataLoss(f"{what} {CONTINUE}{NEW_CHECKPOINT if self.is_stream else ''}.")
        log.warning("%s Continuing, because failOnDataLoss is false.", what)
