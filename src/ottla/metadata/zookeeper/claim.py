"""What a broker has after its election, and needs to append to the metadata log."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """The result of an election. It is valid until the next election, by any broker."""

    broker_id: int
    controller_epoch: int
    epoch_version: int  # of the znode /controller_epoch
