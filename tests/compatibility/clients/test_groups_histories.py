"""Random lives of groups, written by our state machines, read by Apache Kafka.

Kafka checks what it reads: a partition that two members hold, or a member that ends before its
assignment, would stop it. And its state of every group must equal ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from tests.compatibility.clients.groups_harness import GroupsHarness
from tests.compatibility.clients.test_groups_logs import known_of
from tests.support.apache_kafka import ApacheKafka
from tests.support.raw_client import RawClient
from tests.support.waiting import wait_until
from tests.unit.coordinators.groups.harness import Harness
from tests.unit.coordinators.groups.test_random_classic_groups import DELAY, Walker
from tests.unit.coordinators.groups.test_random_consumer_groups import MEMBERS, Crowd

from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.consumer.group import ConsumerGroup
from ottla.coordinators.groups.record_types import GROUP_RECORDS
from ottla.coordinators.records import (
    CoordinatorRecord,
    decode_record,
    encode_key,
    encode_value,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.consumer_group_member_metadata_value import (
    ConsumerGroupMemberMetadataValue,
)
from ottla.protocol.messages.group_metadata_value import GroupMetadataValue
from ottla.protocol.records.batch import stamp_offset_and_epoch
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("apache-kafka")]

OFFSETS = "__consumer_offsets-0"
HISTORIES = 30
STEPS = 60
LONG_MS = 1_800_000
PATIENT = {
    "group.consumer.session.timeout.ms": str(LONG_MS),
    "group.consumer.max.session.timeout.ms": str(LONG_MS),
}


def consumer_history(seed: int) -> Harness:
    random = Random(seed)
    crowd = Crowd()
    for _ in range(STEPS):
        what = random.choices(
            ["beat", "round", "lose", "leave", "crash", "time", "topics", "restart"],
            [30, 10, 5, 4, 4, 12, 3, 2],
        )[0]
        value = random.randrange(MEMBERS)
        if what == "time":
            value = random.choice([500, 1_000, 5_000, 20_000, 46_000])
        crowd.do(what, 1 + value % 3 if what == "topics" else value)
    return crowd.harness


def classic_history(seed: int) -> Harness:
    random = Random(seed)
    harness = Harness(DELAY)
    harness.create_topic("t")
    walkers = [Walker(harness, f"m{at}", f"m{at}" if at % 2 else None, {}) for at in range(4)]
    for _ in range(STEPS):
        walker = random.choice(walkers)
        match random.choices(["step", "leave", "crash", "time"], [30, 2, 2, 10])[0]:
            case "step":
                walker.step()
            case "leave":
                walker.leave()
            case "crash":
                walker.crash()
            case "time":
                harness.advance_ms(3_000)
    return harness


def batches(harness: Harness, group_id: str) -> Iterator[bytearray]:
    """The records of a history under another name of the group, a batch each."""
    now_ms = harness.clock.now_ms()
    for logged in harness.log:
        record = decode_record(GROUP_RECORDS, logged.key, logged.value)
        assert record is not None
        name = "group_id" if hasattr(record.key, "group_id") else "group"
        setattr(record.key, name, group_id)
        be_patient(record)
        yield build_batch([Record(0, now_ms, encode_key(record.key), encode_value(record), ())])


def be_patient(record: CoordinatorRecord) -> None:
    """No member's time is up before Kafka has been asked about it, however long that takes."""
    if isinstance(record.value, GroupMetadataValue):
        for member in record.value.members:
            member.session_timeout = LONG_MS
    if isinstance(record.value, ConsumerGroupMemberMetadataValue):
        record.value.rebalance_timeout_ms = LONG_MS


def write_log(path: Path, histories: dict[str, Harness]) -> None:
    for old in path.iterdir():
        if old.name != "partition.metadata":
            old.unlink()
    with open(path / f"{0:020}.log", "wb") as file:
        offset = 0
        for group_id, harness in histories.items():
            for batch in batches(harness, group_id):
                stamp_offset_and_epoch(batch, 0, offset, 0)
                file.write(batch)
                offset += 1


GONE = ("none",)


def expected_of(harness: Harness) -> tuple[object, ...]:
    """What a broker that loads the log must describe."""
    group = harness.replayed().find("readers")
    if isinstance(group, ConsumerGroup):
        members = sorted((m.member_id, m.epoch, m.regex) for m in group.members.values())
        return "consumer", group.state_name, group.epoch, group.target_epoch, members
    if isinstance(group, ClassicGroup):
        members_of_classic = sorted((m.member_id, m.assignment) for m in group.members.values())
        return "classic", group.state_name, group.protocol_type, members_of_classic
    return GONE


def description_of(client: RawClient, group_id: str) -> tuple[object, ...]:
    known = known_of(client, group_id, as_is=True)
    if not known["listed"]:
        return GONE
    consumer, classic = known["consumer"], known["classic"]
    if consumer.error_code == ErrorCode.NONE:
        members = sorted(
            (m.member_id, m.member_epoch, m.subscribed_topic_regex) for m in consumer.members
        )
        epochs = consumer.group_epoch, consumer.assignment_epoch
        return "consumer", consumer.group_state, *epochs, members
    members_of_classic = sorted((m.member_id, m.member_assignment) for m in classic.members)
    return "classic", classic.group_state, classic.protocol_type, members_of_classic


def description_in_time(
    client: RawClient, group_id: str, expected: tuple[object, ...]
) -> tuple[object, ...]:
    """What Kafka describes once it has loaded its groups, which a killed node may do twice: in the
    leader epoch that it finds in its files, and again in the one that it is given then."""
    with suppress(TimeoutError):
        wait_until(lambda: description_of(client, group_id) == expected, group_id)
    return description_of(client, group_id)


def test_kafka_loads_random_groups_as_we_do(tmp_path: Path) -> None:
    histories = {f"crowd-{seed}": consumer_history(seed) for seed in range(HISTORIES)}
    histories |= {f"classic-{seed}": classic_history(seed) for seed in range(HISTORIES)}
    with ApacheKafka(tmp_path / "kafka", PATIENT) as node:
        GroupsHarness(node.bootstrap).close()
        node.kill()
        write_log(node.log_directory / OFFSETS, histories)
        node.start()
        with RawClient(node.bootstrap) as client:
            wanted = {group_id: expected_of(harness) for group_id, harness in histories.items()}
            # Groups that do not exist come last: at first the coordinator has not loaded any.
            for group_id, expected in sorted(wanted.items(), key=lambda each: each[1] == GONE):
                assert description_in_time(client, group_id, expected) == expected, group_id
