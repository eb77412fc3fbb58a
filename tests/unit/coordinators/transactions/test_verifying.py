"""Leaders that ask coordinators before the first append: the questions and what answers mean."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping

import pytest

from ottla.base.ids import TopicPartition
from ottla.config.load import load_config
from ottla.coordinators.transactions.transaction import ProducerIdAndEpoch
from ottla.coordinators.transactions.verifying import (
    ClientSupport,
    Verifier,
    offset_commit_support,
    produce_support,
)
from ottla.metadata.current_config import CurrentConfig
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.testing.clock import ManualClock

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)
PRODUCER = ProducerIdAndEpoch(40, 3)
BUSY = ErrorCode.CONCURRENT_TRANSACTIONS


class Coordinator:
    """Answers with prepared codes, one after the other."""

    def __init__(self, *codes: ErrorCode) -> None:
        self.codes = list(codes)
        self.asked: list[str] = []

    async def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        client_version: int,
    ) -> None:
        self.asked.append(f"add v{client_version}")
        self._answer()

    async def verify_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
    ) -> dict[TopicPartition, ErrorCode]:
        self.asked.append("verify")
        self._answer()
        return {each: ErrorCode.TRANSACTION_ABORTABLE for each in partitions if each == ONE}

    def _answer(self) -> None:
        code = self.codes.pop(0) if self.codes else ErrorCode.NONE
        if code is not ErrorCode.NONE:
            raise BrokerError(code)


def current_config(*settings: str) -> CurrentConfig:
    return CurrentConfig(load_config(settings=settings), Image())


def ask(
    coordinator: Coordinator, support: ClientSupport, *settings: str
) -> Mapping[TopicPartition, ErrorCode]:
    config = current_config("add.partitions.to.txn.retry.backoff.ms=1", *settings)
    verifier = Verifier(coordinator, config, ManualClock())
    return asyncio.run(verifier.ask("id", PRODUCER, [ZERO, ONE], support))


@pytest.mark.parametrize(
    ("support", "code"),
    [
        (ClientSupport.OLD_ERRORS, ErrorCode.INVALID_TXN_STATE),
        (ClientSupport.ABORTABLE_ERROR, ErrorCode.TRANSACTION_ABORTABLE),
    ],
)
def test_classic_clients_get_the_missing_partition(support: ClientSupport, code: ErrorCode) -> None:
    coordinator = Coordinator()
    assert ask(coordinator, support) == {ONE: code}
    assert coordinator.asked == ["verify"]


def test_for_version_2_the_leader_enlists() -> None:
    coordinator = Coordinator()
    assert ask(coordinator, ClientSupport.IMPLICIT) == {}
    assert coordinator.asked == ["add v2"]


@pytest.mark.parametrize("support", list(ClientSupport))
def test_a_fenced_producer_hears_it_in_the_words_of_leaders(support: ClientSupport) -> None:
    refused = ask(Coordinator(ErrorCode.PRODUCER_FENCED), support)
    assert refused == dict.fromkeys([ZERO, ONE], ErrorCode.INVALID_PRODUCER_EPOCH)


def test_the_end_of_the_last_transaction_is_waited_for() -> None:
    coordinator = Coordinator(BUSY, BUSY, BUSY)
    assert ask(coordinator, ClientSupport.IMPLICIT) == {}
    assert len(coordinator.asked) == 4


def test_but_not_forever() -> None:
    coordinator = Coordinator(*[BUSY] * 50)
    limit = "add.partitions.to.txn.retry.backoff.max.ms=10"
    refused = ask(coordinator, ClientSupport.IMPLICIT, limit)
    assert refused == dict.fromkeys([ZERO, ONE], BUSY)
    assert len(coordinator.asked) == 11


@pytest.mark.parametrize("support", list(ClientSupport))
def test_a_coordinator_that_loads_is_waited_for(support: ClientSupport) -> None:
    coordinator = Coordinator(*[ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 3)
    refused = ask(coordinator, support)
    assert ErrorCode.COORDINATOR_LOAD_IN_PROGRESS not in refused.values()
    assert len(coordinator.asked) == 4


def test_other_errors_are_passed_on_at_once() -> None:
    coordinator = Coordinator(ErrorCode.NOT_COORDINATOR)
    refused = ask(coordinator, ClientSupport.IMPLICIT)
    assert refused == dict.fromkeys([ZERO, ONE], ErrorCode.NOT_COORDINATOR)
    assert len(coordinator.asked) == 1


@pytest.mark.parametrize("is_enabled", [True, False])
def test_verifying_can_be_switched_off_but_enlisting_cannot(is_enabled: bool) -> None:
    setting = f"transaction.partition.verification.enable={str(is_enabled).lower()}"
    verifier = Verifier(Coordinator(), current_config(setting), ManualClock())
    assert verifier.is_needed(ClientSupport.IMPLICIT)
    assert verifier.is_needed(ClientSupport.OLD_ERRORS) is is_enabled


def test_the_version_of_a_request_says_what_its_client_can_do() -> None:
    old, newer, newest = ClientSupport
    assert [produce_support(version) for version in (3, 10, 11, 12, 13)] == [
        old, old, newer, newest, newest,
    ]  # fmt: skip
    assert [offset_commit_support(version) for version in (0, 3, 4, 5)] == [
        old, old, newer, newest,
    ]  # fmt: skip


def test_a_coordinator_that_loads_for_too_long_is_asked_a_last_time() -> None:
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    limit = "add.partitions.to.txn.retry.backoff.ms=2500"
    verifier = Verifier(
        coordinator := Coordinator(*[loading] * 2),
        current_config(limit),
        ManualClock(),
    )
    with pytest.MonkeyPatch.context() as patch:
        pauses: list[float] = []

        async def pause(seconds: float) -> None:
            pauses.append(seconds)

        patch.setattr(asyncio, "sleep", pause)
        answered = asyncio.run(verifier.ask("id", PRODUCER, [ZERO], ClientSupport.OLD_ERRORS))
        assert (answered, pauses) == ({}, [2.5, 2.5])
        coordinator.codes, coordinator.asked = [loading] * 9, []
        refused = asyncio.run(verifier.ask("id", PRODUCER, [ZERO], ClientSupport.OLD_ERRORS))
    assert refused == {ZERO: loading}
    assert len(coordinator.asked) == 3


def test_the_end_of_the_last_transaction_is_waited_for_in_pauses_of_the_setting() -> None:
    settings = [
        "add.partitions.to.txn.retry.backoff.ms=20",
        "add.partitions.to.txn.retry.backoff.max.ms=70",
    ]
    verifier = Verifier(Coordinator(*[BUSY] * 9), current_config(*settings), ManualClock())
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "sleep", pause)
        refused = asyncio.run(verifier.ask("id", PRODUCER, [ZERO], ClientSupport.IMPLICIT))
    assert (refused, pauses) == ({ZERO: BUSY}, [0.02, 0.02, 0.02])
