"""Verifies with the coordinator before the first append of a transaction to a partition (KIP-890).

Owns      the verification: a guard from the partition's log, the request to the coordinator, and
          the error code for the client's request version.
Promises  no transactional record is appended to a partition that is not part of the transaction. It
          waits for a short time for the end of a previous transaction, and for a coordinator that
          is still loading.
Leaves    guards to the storage, the coordinator's rules to `enlisting.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from enum import Enum
from typing import Protocol, TypeVar

from ottla.base.clock import Clock
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.coordinators.transactions.transaction import EPOCH_BUMP_VERSION, ProducerIdAndEpoch
from ottla.metadata.current_config import CurrentConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.partition import Partition
from ottla.storage.producers.append_decisions import ACCEPTED

LOADING_MS_MAX = 5000

T = TypeVar("T")


class ClientSupport(Enum):
    """The capabilities of a client according to its request version."""

    OLD_ERRORS = "enlists partitions itself; knows no TRANSACTION_ABORTABLE"
    ABORTABLE_ERROR = "enlists partitions itself"
    IMPLICIT = "leaves enlisting to the leader"


def produce_support(version: int) -> ClientSupport:
    if version >= 12:
        return ClientSupport.IMPLICIT
    return ClientSupport.ABORTABLE_ERROR if version == 11 else ClientSupport.OLD_ERRORS


def offset_commit_support(version: int) -> ClientSupport:
    if version >= 5:
        return ClientSupport.IMPLICIT
    return ClientSupport.ABORTABLE_ERROR if version == 4 else ClientSupport.OLD_ERRORS


class Coordinator(Protocol):
    """The coordinator of a transactional id, on this broker or another."""

    async def add_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        client_version: int,
    ) -> None: ...

    async def verify_partitions(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
    ) -> dict[TopicPartition, ErrorCode]: ...


class Verifier:
    def __init__(self, coordinator: Coordinator, current: CurrentConfig, clock: Clock) -> None:
        self._coordinator = coordinator
        self._current = current
        self._clock = clock

    def is_needed(self, support: ClientSupport) -> bool:
        is_enabled = self._current.broker.transaction_partition_verification_enable
        return is_enabled or support is ClientSupport.IMPLICIT

    def guard(
        self,
        partition: Partition,
        producer: ProducerIdAndEpoch,
        sequence: int,
        support: ClientSupport,
    ) -> int:
        """The guard to append with once the coordinator agrees; NO_GUARD if it already has."""
        partition.check_leader()
        states = partition.log.producers.load(BLOCKING)
        verdict = states.decide_verification(*producer)
        if verdict is not ACCEPTED:
            raise BrokerError(verdict.code, f"{partition.name}: {verdict.message}")
        is_implicit = support is ClientSupport.IMPLICIT
        return states.start_verification(
            producer.producer_id, sequence, producer.epoch, is_implicit, self._clock.now_ms()
        )

    async def ask(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
        support: ClientSupport,
    ) -> Mapping[TopicPartition, ErrorCode]:
        """The errors of partitions that must not be written to."""
        if support is ClientSupport.IMPLICIT:
            code = await self._enlist(transactional_id, producer, partitions)
            codes = dict.fromkeys(partitions, code)
        else:
            codes = await self._verify(transactional_id, producer, partitions)
        return {
            partition: for_client(code, support)
            for partition, code in codes.items()
            if code is not ErrorCode.NONE
        }

    async def _verify(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
    ) -> dict[TopicPartition, ErrorCode]:
        try:
            return await self._once_loaded(
                lambda: self._coordinator.verify_partitions(transactional_id, producer, partitions)
            )
        except BrokerError as error:
            return dict.fromkeys(partitions, error.code)

    async def _enlist(
        self,
        transactional_id: str,
        producer: ProducerIdAndEpoch,
        partitions: Collection[TopicPartition],
    ) -> ErrorCode:
        """The producer's last transaction may still be ending although its response was sent:
        retry."""
        config = self._current.broker
        pause_ms = config.add_partitions_to_txn_retry_backoff_ms
        pauses = config.add_partitions_to_txn_retry_backoff_max_ms // pause_ms
        while True:
            try:
                await self._once_loaded(
                    lambda: self._coordinator.add_partitions(
                        transactional_id, producer, partitions, EPOCH_BUMP_VERSION
                    )
                )
                return ErrorCode.NONE
            except BrokerError as error:
                if error.code is not ErrorCode.CONCURRENT_TRANSACTIONS or pauses <= 0:
                    return error.code
            pauses -= 1
            await asyncio.sleep(pause_ms / 1000)

    async def _once_loaded(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Wait while the coordinator loads: if one batch were rejected and the next accepted,
        the sequence would have a gap and the transaction would fail."""
        pause_ms = self._current.broker.add_partitions_to_txn_retry_backoff_ms
        for _ in range(LOADING_MS_MAX // pause_ms):
            try:
                return await ask()
            except BrokerError as error:
                if error.code is not ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                    raise
            await asyncio.sleep(pause_ms / 1000)
        return await ask()


def for_client(code: ErrorCode, support: ClientSupport) -> ErrorCode:
    """The error code that a producer expects from a partition leader."""
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and support is ClientSupport.OLD_ERRORS:
        return ErrorCode.INVALID_TXN_STATE
    return code
