"""Random partitions and what should become of them: Apache Kafka's own class decides the same.

Left out is the order of eligible replicas, and one thing on purpose: Kafka lets a broker stay
eligible after the partition was moved away from it.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from tests.support.class_archive import SHORT_LIFE
from tests.support.kafka_jars import kafka_libs

from ottla.base.ids import NO_LEADER, TopicId
from ottla.controller.elections import Election, PartitionTarget, Rules, decide_change
from ottla.metadata.entities import PartitionRegistration

CASES = 5000
BROKERS = range(1, 6)
COMPARED = (
    "replicas",
    "in_sync_replicas",
    "eligible_replicas",
    "last_known_leader",
    "adding_replicas",
    "removing_replicas",
    "leader",
    "leader_epoch",
    "leader_recovery",
)


class Case(NamedTuple):
    partition: PartitionRegistration
    wanted: PartitionTarget
    alive: frozenset[int]
    min_in_sync: int


def random_case(rng: Random) -> Case:
    partition, min_in_sync = random_partition(rng)
    wanted = PartitionTarget.as_is(partition)
    alive = {each for each in BROKERS if rng.random() < 0.7}
    match rng.randrange(5):
        case 0 | 1 as kind:
            dropped = rng.choice(partition.replicas)
            alive.discard(dropped)
            wanted.in_sync = tuple(each for each in wanted.in_sync if each != dropped)
            wanted.unclean = frozenset({dropped} if kind else ())
        case 2 if partition.leader != NO_LEADER:
            wanted.in_sync = tuple(
                each
                for each in partition.replicas
                if each == partition.leader or (each in alive and rng.random() < 0.7)
            )
        case 3:
            target = rng.sample(BROKERS, rng.randrange(1, 4))
            wanted.removing = tuple(sorted(set(partition.replicas) - set(target)))
            wanted.adding = tuple(sorted(set(target) - set(partition.replicas)))
            wanted.replicas = (*target, *wanted.removing)
    wanted.election = rng.choice(list(Election))
    return Case(partition, wanted, frozenset(alive), min_in_sync)


def random_partition(rng: Random) -> tuple[PartitionRegistration, int]:
    replicas = tuple(rng.sample(BROKERS, rng.randrange(1, 5)))
    in_sync = tuple(each for each in replicas if rng.random() < 0.6)
    min_in_sync = min(rng.randrange(1, 4), len(replicas))
    others = [each for each in replicas if each not in in_sync and rng.random() < 0.4]
    leader = rng.choice(in_sync) if in_sync and rng.random() < 0.95 else NO_LEADER
    moving = rng.random() < 0.3
    adding = tuple(sorted(each for each in replicas if moving and rng.random() < 0.3))
    leaving = [each for each in replicas if each not in adding and moving and rng.random() < 0.3]
    partition = PartitionRegistration(
        replicas,
        in_sync,
        leader,
        leader_epoch=5,
        partition_epoch=9,
        eligible_replicas=tuple(others) if len(in_sync) < min_in_sync else (),
        last_known_leader=NO_LEADER if leader != NO_LEADER else rng.choice(replicas),
        adding_replicas=adding,
        removing_replicas=tuple(sorted(leaving)),
        leader_recovery=rng.choice((0, 0, 1)),
        directories=(bytes(16),) * len(replicas),
    )
    return partition, min_in_sync


def ours(case: Case) -> dict[str, Any]:
    rules = Rules(case.min_in_sync, case.alive.__contains__, lambda _broker: bytes(16))
    record = decide_change(TopicId(bytes(16)), 0, case.partition, replace(case.wanted), rules)
    now = case.partition if record is None else case.partition.changed(record)
    return comparable(now._asdict())


def kafkas(cases: list[Case]) -> list[dict[str, Any]]:
    questions = "".join(json.dumps(question(case)) + "\n" for case in cases)
    program = Path(__file__).parent / "PartitionChanges.java"
    answered = subprocess.run(
        ["java", *SHORT_LIFE, "-Xmx256m", "-cp", f"{kafka_libs()}/*", str(program)],
        input=questions.encode(),
        capture_output=True,
        check=True,
    )
    return [comparable(json.loads(line)) for line in answered.stdout.splitlines()]


def question(case: Case) -> dict[str, Any]:
    partition = case.partition._asdict()
    del partition["directories"]
    wanted = case.wanted
    return {
        "partition": partition,
        "alive": sorted(case.alive),
        "min_in_sync": case.min_in_sync,
        "wanted": {
            "in_sync": wanted.in_sync,
            "replicas": wanted.replicas,
            "adding": wanted.adding,
            "removing": wanted.removing,
            "unclean": sorted(wanted.unclean),
            "election": wanted.election.name,
        },
    }


def comparable(fields: dict[str, Any]) -> dict[str, Any]:
    plain = {name: fields[name] for name in COMPARED}
    lists = {name: list(value) for name, value in plain.items() if isinstance(value, list | tuple)}
    eligible = sorted(each for each in fields["eligible_replicas"] if each in lists["replicas"])
    return plain | lists | {"eligible_replicas": eligible}


@pytest.mark.java
def test_kafkas_own_class_decides_the_same() -> None:
    rng = Random(20)
    cases = [random_case(rng) for _ in range(CASES)]
    answers = kafkas(cases)
    assert len(answers) == CASES
    for case, answer in zip(cases, answers, strict=True):
        assert ours(case) == answer, case
