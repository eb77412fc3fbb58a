"""Power cuts and refusing disks at every step of a round, and what is there afterwards."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.unit.storage.compaction.compaction_world import CONFIG, PATH, RETENTION_MS, World

from ottla.protocol.errors import BrokerError
from ottla.storage.log.recovery import Checkpoint
from ottla.testing.disk_faults import CHANGES, SYNCS

STEPS = CHANGES | SYNCS
STEPS_MAX = 400


def prepared(seed: int, segment_bytes: int) -> World:
    """A log on a calm disk with old values, tombstones whose time has come, and transactions."""
    random = Random(seed)
    world = World()
    keys = [b"%d" % number for number in range(8)]
    for number in range(24):
        rows = [(random.choice(keys), random.choice([None, b"x" * 40])) for _ in range(3)]
        producer = random.choice([None, 1, 2])
        world.produce(rows, producer=producer, is_transactional=producer == 2)
        if number % 5 == 4:
            world.end(2, is_commit=random.random() < 0.5)
    world.end(2, is_commit=True)
    world.log.roll()
    world.compact()  # starts the time of tombstones and markers
    world.clock.advance_ms(RETENTION_MS)
    for key in keys[::2]:
        world.produce([(key, random.choice([None, b"y" * 40]))])
    world.log.roll()
    world.log.close()
    for path in (PATH, "/logs", "/"):
        world.disk.sync_directory(path)
    # Larger segments than before, so that many old ones become one.
    world.config = replace(CONFIG, segment_bytes=segment_bytes)
    world.open(Checkpoint(world.log.log_end_offset, 0, is_clean=True))
    world.check()
    return world


def run_until_failure(world: World, step: int) -> bool:
    """Compact on a disk that refuses everything from this step on; False if it got through."""
    world.disk.fail(STEPS, skip=step, times=None)
    try:
        world.compact()
    except (OSError, BrokerError):
        return True
    finally:
        world.disk.heal()
    return False


@pytest.mark.parametrize(("seed", "segment_bytes"), [(0, 900), (1, 2500)])
def test_a_power_cut_at_any_step_loses_and_revives_nothing(seed: int, segment_bytes: int) -> None:
    step, is_over = 0, False
    while not is_over:
        assert step < STEPS_MAX, "a round must end some time"
        world = prepared(seed, segment_bytes)
        end = world.log.log_end_offset
        is_over = not run_until_failure(world, step)
        world.disk.crash(Random(1000 * seed + step))
        world.open(Checkpoint(end, 0))
        assert world.log.log_end_offset == end
        assert world.log.damage == ()
        world.check()
        assert not [name for name in world.disk.list_directory(PATH) if ".cleaned" in name]
        world.compact()
        world.check()
        step += 1
