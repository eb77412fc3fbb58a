"""Planted bugs of the transaction coordinator."""

from __future__ import annotations

from typing import Any

from tests.chaos.planted.plant import Patch, Plant

COORDINATOR = "ottla.coordinators.transactions.coordinator:TransactionCoordinator"
DECISIONS = "ottla.storage.producers.append_decisions"


def enlisted_in_memory(real: Any) -> Any:
    def enlist(self: Any, *arguments: Any) -> Any:
        def put(shard: Any, changed: Any) -> int:
            shard.state._put(changed)
            end_offset: int = shard.log_end_offset
            return end_offset

        self._write = put
        try:
            return real(self, *arguments)
        finally:
            del self._write

    return enlist


def never_finished(_real: Any) -> Any:
    """The end that an earlier coordinator has decided is not carried out."""

    async def load_ended(_self: Any, _shard: Any) -> None: ...

    return load_ended


def any_epoch(_real: Any) -> Any:
    def decide_epoch(_producer_id: int, _epoch: int, _entry: Any) -> Any:
        from ottla.storage.producers.append_decisions import ACCEPTED

        return ACCEPTED

    return decide_epoch


def committed_at_once(_real: Any) -> Any:
    """Markers are not waited for: the transaction is complete when its end is decided."""

    def has_open_transaction(self: Any) -> bool:
        return False

    return property(has_open_transaction)


TRANSACTIONS: dict[str, Plant] = {
    "partitions-enlisted-in-memory": Plant(
        "AddPartitionsToTxn is not written to the log of the coordinator",
        [Patch(COORDINATOR, "enlist", enlisted_in_memory)],
        ["kill", "elect", "step"],
        seconds=60.0,
        test=(
            "tests/unit/coordinators/transactions/test_service.py "
            "tests/unit/coordinators/transactions/test_random_transactions.py"
        ),
    ),
    "decided-end-not-carried-out": Plant(
        "a new coordinator does not write the markers of transactions whose end was decided",
        [Patch(COORDINATOR, "_load_ended", never_finished)],
        ["step", "kill"],
        expected="clients",  # whose next transaction never begins
        seconds=60.0,
        test=(
            "tests/unit/coordinators/transactions/test_service.py "
            "tests/unit/coordinators/transactions/test_markers.py"
        ),
    ),
    "producer-epoch-unchecked": Plant(
        "records and offsets of a producer that was fenced are appended",
        [Patch(DECISIONS, "decide_epoch", any_epoch)],
        ["zombie", "client"],
        hold_s=(7.0, 12.0),
        test="tests/unit/storage/producers",
    ),
}
