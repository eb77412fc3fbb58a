"""What a broker has after its election, and needs to append to the metadata log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """That a broker was elected. It ends with the next election, wherever that happens."""

    broker_id: int
    controller_epoch: int
    epoch_version: int  # of the znode /controller_epoch
