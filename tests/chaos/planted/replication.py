"""Planted bugs of replication, elections and the metadata log."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.chaos.planted.plant import Patch, Plant

PARTITION = "ottla.replication.partition:Partition"
LEADER_STATE = "ottla.replication.partition_state:LeaderState"
SIMULATION = "tests/simulation/partitions/test_partition_simulation.py -k survive"
ALTERATION = "ottla.controller.alter_partition:_Alteration"


def acknowledge_at_once(_real: Any) -> Any:
    def when_replicated(_self: Any, _end_offset: int, done: Any, _leader_epoch: int = -1) -> None:
        done(None)

    return when_replicated


def one_is_enough(_real: Any) -> Any:
    return lambda _self, _min_in_sync_replicas: 1


def truncated_to_high_watermark(real: Any) -> Any:
    """As before KIP-101: a follower removes what it does not know to be committed."""

    def locating(partition: Any) -> Any:
        log = partition.log
        if log.offsets.end > log.offsets.high_watermark:
            yield from partition.truncating(log.truncating_to(log.offsets.high_watermark))
        return (yield from real(partition))._replace(last_fetched_epoch=-1)

    return locating


def any_epoch(_real: Any) -> Any:
    return lambda _self, _current_leader_epoch: None


def never_diverging(_real: Any) -> Any:
    return lambda _self, _reader, _last_fetched_epoch, _offset: None


def any_alteration(_real: Any) -> Any:
    from ottla.protocol.error_codes import ErrorCode

    return lambda _self, _partition, _data, _in_sync: ErrorCode.NONE


def always_newer(real: Any) -> Any:
    """An old state of a partition is applied over a newer one."""

    def lead_or_follow(self: Any, decided: Any, now_ms: int) -> None:
        self.replica.apply(replace(self.leadership, partition_epoch=-1))
        real(self, decided, now_ms)

    return lead_or_follow


def rejoining_early(_real: Any) -> Any:
    def may_rejoin(self: Any, broker_id: int, _high_watermark: int) -> bool:
        progress = self.followers.get(broker_id)
        is_out = progress is not None and broker_id not in self.counted
        return is_out and progress.log_end_offset >= 0

    return may_rejoin


def kept_after_kill(real: Any) -> Any:
    def after_stop(state: Any, broker: Any, *, is_clean: bool) -> Any:
        return real(state, broker, is_clean=is_clean) if is_clean else []

    return after_stop


def unguarded(real: Any) -> Any:
    """The append does not check that the writer is still the controller."""

    class Unguarded:
        def __init__(self, service: Any) -> None:
            self._service = service

        def __getattr__(self, name: str) -> Any:
            return getattr(self._service, name)

        async def multi(self, operations: Any) -> Any:
            from ottla.metadata.zookeeper.service import Check

            kept = [each for each in operations if not isinstance(each, Check)]
            return await self._service.multi(kept)

    async def write(self: Any, batch: Any, claim: Any) -> Any:
        service = self._service
        self._service = Unguarded(service)
        try:
            return await real(self, batch, claim)
        finally:
            self._service = service

    return write


def epoch_not_written(real: Any) -> Any:
    """An election leaves the epoch of the last controller in place."""

    async def elect(service: Any, *rest: Any, **others: Any) -> Any:
        claim = await real(service, *rest, **others)
        return None if claim is None else replace(claim, controller_epoch=1)

    return elect


REPLICATION: dict[str, Plant] = {
    "ack-before-high-watermark": Plant(
        "acknowledges acks=all before other replicas have the records",
        [Patch(PARTITION, "when_replicated", acknowledge_at_once)],
        ["strand"],
    ),
    "high-watermark-below-min-isr": Plant(
        "commits with fewer replicas in sync than min.insync.replicas",
        [
            Patch(LEADER_STATE, "needed", one_is_enough),
            Patch("ottla.replication.leadership:Leadership", "needed_in_sync", one_is_enough),
        ],
        ["last", "strand"],
        hold_s=(8.0, 12.0),
        test=SIMULATION,
    ),
    "truncate-to-high-watermark": Plant(
        "a new follower truncates to its high watermark (before KIP-101)",
        [
            Patch(
                # before others import it
                "ottla.replication.following.fetched_records",
                "locating",
                truncated_to_high_watermark,
            )
        ],
        ["kill", "elect", "strand"],
        test=SIMULATION,
    ),
    "no-epoch-check-in-fetch": Plant(
        "Fetch compares neither the leader epoch nor the last fetched epoch",
        [
            Patch(PARTITION, "check_epoch", any_epoch),
            Patch(PARTITION, "divergence", never_diverging),
        ],
        ["strand", "kill-one"],
        test=SIMULATION,
    ),
    "no-epoch-check-in-leadership-change": Plant(
        "the controller accepts AlterPartition of any epoch and broker",
        [
            Patch(ALTERATION, "_fault", any_alteration),
            Patch(PARTITION, "lead_or_follow", always_newer),
        ],
        ["cut", "pause", "kill-one", "elect"],
        hold_s=(7.0, 12.0),
        seconds=80.0,
        test=SIMULATION,
    ),
    "rejoin-before-log-end": Plant(
        "a follower is in sync again before it has caught up",
        [Patch(LEADER_STATE, "may_rejoin", rejoining_early)],
        ["last", "strand", "pause"],
        hold_s=(7.0, 12.0),
        test=SIMULATION,
    ),
    "killed-broker-kept-in-sync": Plant(
        "a broker that was killed stays in the in-sync replicas",
        [Patch("ottla.controller.brokers", "_after_stop", kept_after_kill)],
        ["kill", "last"],
        test=SIMULATION,
    ),
    "no-znode-version-check": Plant(
        "an append to the metadata log does not check /controller_epoch",
        [Patch("ottla.metadata.zookeeper.batch_writer:LogBatchWriter", "write", unguarded)],
        ["pause", "cut"],
        hold_s=(7.0, 12.0),
        test="tests/integration/zookeeper/test_zookeeper_log.py -k replaced_cannot_append",
    ),
    "controller-epoch-ignored": Plant(
        "every controller claims epoch 1",
        [Patch("ottla.metadata.zookeeper.election", "elect", epoch_not_written)],
        test="tests/unit/metadata/zookeeper/test_election.py",
    ),
}
