"""Controllers of several brokers on a model of ZooKeeper: whatever happens to connections, sessions
and processes, no acknowledged decision is lost, none happens twice, and all images become equal.

`election_world.py` is the simulation, which also runs by itself. CI runs thousands of seeds of it
(`make simulation`). A failing seed replays: `run_seed(SEED)` has the same events again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.support.zookeeper_model import ModelService
from tests.unit.controller.election_world import SeedFailed, decisions, is_calm, run_seed

from ottla.base.scheduling.threads import RunJob
from ottla.metadata.image import Batch
from ottla.metadata.zookeeper.batch_writer import LogBatchWriter
from ottla.metadata.zookeeper.batch_znode import encode_batch
from ottla.metadata.zookeeper.claim import Claim
from ottla.metadata.zookeeper.layout import CONTROLLER_EPOCH, batch_path
from ottla.metadata.zookeeper.service import Check, Create, Operation, OutcomeUnknown, retried
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog

SEEDS = 60
PLANTED_SEEDS = 400  # each planted fault is found in fewer


@pytest.mark.parametrize("part", range(10))
def test_no_decision_is_lost_or_made_twice(part: int) -> None:
    seeds = range(part, SEEDS, 10)
    decided = sum(decisions(run_seed(seed)) for seed in seeds)
    busy = [seed for seed in seeds if not is_calm(seed)]
    assert decided > 20 * len(busy)


def test_a_seed_replays() -> None:
    assert run_seed(1) == run_seed(1) != run_seed(2)


# Faults that are planted, to show that the simulation finds them.


class WithoutEpochCheck(ModelService):
    """Appends do not compare the epoch of the controller."""

    async def multi(self, operations: Sequence[Operation]) -> None:
        checked = [
            each
            for each in operations
            if not (isinstance(each, Check) and each.path == CONTROLLER_EPOCH)
        ]
        await super().multi(checked)


class StaleReads(ModelService):
    """What a broker reads after its own write, or after a sync, may be older than that."""

    async def multi(self, operations: Sequence[Operation]) -> None:
        await self._request(lambda: self._ensemble.transact(self._session, operations))

    async def sync(self) -> None:
        await self._request(lambda: None)

    def _fall_behind(self) -> None:
        if self._rng.random() < 0.3:
            super()._fall_behind()


class LostWatches(ModelService):
    """One change in fifty is not reported."""

    def _notify(self, on_change: Any) -> None:
        super()._notify(on_change if self._rng.random() > 0.02 else lambda: None)


class DoubledCreates(LogBatchWriter):
    """An append that is repeated after a lost connection gets an offset of its own, as with
    sequential znodes."""

    async def write(self, batch: Batch, claim: Claim) -> int:
        while True:
            data = encode_batch(batch, claim.broker_id, self._new_nonce()).data
            check = Check(CONTROLLER_EPOCH, claim.epoch_version)
            path = batch_path(batch.base_offset)
            try:
                await self._service.multi([check, Create(path, data)])
                return len(data)
            except OutcomeUnknown:
                await self._service.connected()
                if await retried(self._service, self._service.get, path) is not None:
                    batch = batch._replace(base_offset=batch.end_offset)


class DoublingLog(ZooKeeperMetadataLog):
    def __init__(
        self, service: ModelService, run_job: RunJob, new_nonce: Callable[[], str], **limits: int
    ) -> None:
        super().__init__(service, run_job, new_nonce, **limits)
        self._writer = DoubledCreates(service, run_job, new_nonce, self._seen)


class Unconfirmed(ZooKeeperMetadataLog):
    """A controller that was replaced answers from what it knows."""

    async def confirm(self) -> None:
        pass


PLANTED: dict[str, tuple[type[ModelService], type[ZooKeeperMetadataLog], str]] = {
    "missing epoch check": (WithoutEpochCheck, ZooKeeperMetadataLog, "although epoch"),
    "stale read": (StaleReads, ZooKeeperMetadataLog, ""),
    "lost watch": (LostWatches, ZooKeeperMetadataLog, "images differ"),
    "doubled create": (ModelService, DoublingLog, "twice"),
    "stale answer": (ModelService, Unconfirmed, "does not know"),
}


@pytest.mark.ci
@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_fault_is_found_and_replays(planted: str) -> None:
    service, log, reason = PLANTED[planted]
    failed = next(
        filter(None, (failure(seed, service, log) for seed in range(PLANTED_SEEDS))), None
    )
    assert failed is not None, f"{PLANTED_SEEDS} seeds found nothing"
    assert reason in str(failed.error)
    again = failure(failed.seed, service, log)
    assert again is not None
    assert (again.events, repr(again.error)) == (failed.events, repr(failed.error))


def failure(
    seed: int, service: type[ModelService], log: type[ZooKeeperMetadataLog]
) -> SeedFailed | None:
    try:
        run_seed(seed, service, log)
    except SeedFailed as failed:
        return failed
    return None
