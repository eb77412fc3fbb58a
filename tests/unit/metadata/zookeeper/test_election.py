"""Elections of the controller while something else happens, at every pause."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from random import Random

import pytest
from tests.support.paused_service import PausedService, at_every_pause
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService

from ottla.metadata.zookeeper.claim import Claim
from ottla.metadata.zookeeper.election import (
    ELECTIONS_WITHOUT_BATCH_MAX,
    UNKNOWN,
    depose,
    elect,
    holds_controller,
    read_controller,
    resign,
)
from ottla.metadata.zookeeper.layout import CONTROLLER, CONTROLLER_EPOCH
from ottla.metadata.zookeeper.service import (
    ChrootMissing,
    Create,
    Delete,
    Operation,
    Write,
    ZnodeMissing,
)
from ottla.testing.clock import ManualClock

CLOCK = ManualClock()


def is_current(ensemble: Ensemble, claim: Claim) -> bool:
    """Whether a broker with this claim can append."""
    return ensemble.tree[CONTROLLER_EPOCH].version == claim.epoch_version


def test_a_claim_is_current_whoever_was_elected_and_has_resigned_meanwhile() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, other = PausedService(ensemble), ModelService(ensemble)
        epochs: list[int] = []

        async def another() -> None:
            claim = await elect(other, 2, CLOCK)
            if claim is not None:
                epochs.append(claim.controller_epoch)
                await resign(other)

        await another()  # the epoch is not the first one
        one.arm(pause, another)
        claim = await elect(one, 1, CLOCK)
        if claim is not None:
            assert is_current(ensemble, claim)
            epochs.append(claim.controller_epoch)
            assert await holds_controller(one, claim)
        assert epochs == sorted(set(epochs)), "two claims with one epoch"
        return one.has_happened

    at_every_pause(story)


def test_a_claim_is_known_whenever_the_connection_is_lost() -> None:
    """Otherwise there would be no controller until the session expires."""

    async def story(ensemble: Ensemble, pause: int) -> bool:
        one = PausedService(ensemble)

        async def lose() -> None:
            one.lose_connection(0.1)

        one.arm(pause, lose)
        claim = await elect(one, 1, CLOCK)
        znode = ensemble.tree.get(CONTROLLER)
        assert (claim is None) == (znode is None)
        assert claim is None or is_current(ensemble, claim)
        return one.has_happened

    at_every_pause(story, seeds=20)


def test_resigning_leaves_the_next_controller_alone() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, other = PausedService(ensemble), ModelService(ensemble)
        assert await elect(one, 1, CLOCK) is not None
        claims: list[Claim] = []

        async def replace() -> None:
            if CONTROLLER in ensemble.tree:
                await other.multi([Delete(CONTROLLER)])
            await other.sync()
            claim = await elect(other, 2, CLOCK)
            assert claim is not None
            claims.append(claim)

        one.arm(pause, replace)
        await resign(one)
        if claims:
            await other.sync()
            assert await holds_controller(other, claims[0])
        else:
            assert CONTROLLER not in ensemble.tree
        return one.has_happened

    at_every_pause(story)


def test_a_controller_that_was_started_again_is_not_deposed() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        before, after = ModelService(ensemble), ModelService(ensemble)
        observer = PausedService(ensemble)
        assert await elect(before, 1, CLOCK) is not None
        claims: list[Claim] = []

        async def start_again() -> None:
            await before.close()
            await after.sync()
            claim = await elect(after, 1, CLOCK)  # the same broker id
            assert claim is not None
            claims.append(claim)

        await observer.sync()
        observer.arm(pause, start_again)
        await depose(observer, 1)
        await depose(observer, 2)
        if claims:
            # What was seen of the successor ends it as well: only one seen before must not.
            is_seen = pause == 0
            assert is_seen or await holds_controller(after, claims[0])
        else:
            assert CONTROLLER not in ensemble.tree
        return observer.has_happened

    at_every_pause(story, seeds=10)


def test_an_epoch_that_is_deleted_at_any_pause_is_created_again() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, other = PausedService(ensemble), ModelService(ensemble)

        async def delete() -> None:
            if CONTROLLER_EPOCH in ensemble.tree:
                await other.multi([Delete(CONTROLLER_EPOCH)])

        one.arm(pause, delete)
        while (claim := await elect(one, 1, CLOCK, known_epoch=5)) is None:
            pass  # its server may be behind
        assert claim.controller_epoch > 5
        return one.has_happened

    at_every_pause(story)


class WithoutChroot(ModelService):
    async def multi(self, operations: Sequence[Operation]) -> None:
        raise ZnodeMissing(operations[0].path)


def test_an_election_without_the_chroot_says_so() -> None:
    async def story() -> None:
        with pytest.raises(ChrootMissing, match=r"model, was deleted.* restore ZooKeeper"):
            await elect(WithoutChroot(Ensemble(Random(1))), 1, CLOCK)

    run_in_virtual_time(story())


@pytest.mark.parametrize("data", [b"", b"me", json.dumps({"brokerid": 2, "epoch": 1}).encode()])
def test_a_controller_that_is_not_ephemeral_is_deleted(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """It would never end: no broker would be elected, and all would wait for the one it names."""

    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, other = PausedService(ensemble), ModelService(ensemble)
        changed = asyncio.Event()
        await other.multi([Create(CONTROLLER, data)])
        await one.sync()
        claims: list[Claim] = []

        async def replace() -> None:
            if CONTROLLER in ensemble.tree:
                await other.multi([Delete(CONTROLLER)])
            claim = await elect(other, 2, CLOCK)
            assert claim is not None
            claims.append(claim)

        one.arm(pause, replace)
        assert await read_controller(one, changed.set) in (UNKNOWN, 2, None)
        if claims:
            assert await holds_controller(other, claims[0])
        else:
            assert f"the znode {CONTROLLER}" in caplog.text
            await asyncio.wait_for(changed.wait(), 60)
            assert CONTROLLER not in ensemble.tree
        return one.has_happened

    at_every_pause(story)


def test_a_controller_that_cannot_be_deleted_is_named(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        service = ModelService(Ensemble(Random(1)))
        await service.multi([Create(CONTROLLER), Create(CONTROLLER + "/below")])
        assert await read_controller(service) == UNKNOWN
        assert f"no controller until the znode {CONTROLLER} is deleted" in caplog.text

    run_in_virtual_time(story())


@pytest.mark.parametrize("data", [b'{"brokerid": true}', b"[" * 100_000, b'{"brokerid": 1.5}'])
def test_an_edited_controller_has_no_id(data: bytes) -> None:
    async def story() -> None:
        service = ModelService(Ensemble(Random(1)))
        assert await elect(service, 1, CLOCK) is not None
        await service.multi([Write(CONTROLLER, data)])
        assert await read_controller(service) == UNKNOWN

    run_in_virtual_time(story())


@pytest.mark.parametrize(
    "data", [b"", b"x", b"-1", b"3", b"2147483647", str(10**30).encode(), b"9" * 5000]
)
def test_an_edited_epoch_goes_neither_back_nor_far_ahead(data: bytes) -> None:
    """Epochs are 32 bits in requests and snapshots: a larger one would stay in the log."""

    async def story() -> None:
        service = ModelService(Ensemble(Random(1)))
        await service.multi([Create(CONTROLLER_EPOCH, data)])
        claim = await elect(service, 1, CLOCK, known_epoch=7)
        assert claim is not None
        assert claim.controller_epoch == 8

    run_in_virtual_time(story())


def test_elections_without_a_batch_are_counted() -> None:
    async def story() -> None:
        service = ModelService(Ensemble(Random(1)))
        last = 7 + ELECTIONS_WITHOUT_BATCH_MAX
        await service.multi([Create(CONTROLLER_EPOCH, str(last).encode())])
        claim = await elect(service, 1, CLOCK, known_epoch=7)
        assert claim is not None
        assert claim.controller_epoch == last + 1

    run_in_virtual_time(story())
