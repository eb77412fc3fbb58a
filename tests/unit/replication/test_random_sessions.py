"""Random readers open, resume and leave fetch sessions; after each step the bounds are compared
with what the sessions hold, and each eviction with the rules for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import pytest

from ottla.replication.fetch_sessions import FetchKey, FetchSession, WantedPartition, room_of
from ottla.replication.session_cache import EVICTION_MS, FetchSessions

SLOTS_MAX = 5
ROOM_MAX = 12
LONG_NAME = "\N{SNOWMAN}" * 32  # takes the room of two partitions


@dataclass
class Reader:
    is_disconnected: bool = False


@dataclass
class World:
    random: Random
    now_ms: int = 0
    closed: list[FetchSession] = field(default_factory=list)
    open_ones: dict[int, FetchSession] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.cache = FetchSessions(SLOTS_MAX, self.random, ROOM_MAX, self.was_closed)
        self.held_when_closed: list[int] = []
        self.followers = self.random.choice((0.3, 0.95))

    def was_closed(self, session: FetchSession) -> None:
        self.closed.append(self.open_ones.pop(session.id))
        self.held_when_closed.append(session.held)
        while session.forget_any() is not None:
            pass

    def keys(self, room: int) -> list[FetchKey]:
        """Partitions that take so much room together."""
        keys = [FetchKey("t", at) for at in range(room)]
        return [FetchKey(LONG_NAME, 0), *keys[2:]] if room > 2 else keys

    # Steps

    def open(self) -> None:
        room = self.random.choice((1, 2, 3, self.random.randint(1, ROOM_MAX + 1)))
        is_follower = self.random.random() < self.followers
        can_make_room = self.can_make_room(room, is_follower)
        may_go = {id(each): self.may_go(each, room, is_follower) for each in self.sessions}
        had_slot, held = len(self.open_ones) < SLOTS_MAX, self.cache.room.held
        self.closed, self.held_when_closed = [], []
        opened = self.cache.open(room, is_follower, False, self.now_ms, Reader())
        assert all(may_go[id(each)] for each in self.closed)
        if opened is None:
            assert not self.closed, "no session is evicted for a reader that gets none"
            assert not (can_make_room and had_slot)
            return
        assert can_make_room
        if had_slot and self.closed:
            excess = held + room - ROOM_MAX
            assert sum(self.held_when_closed[:-1]) < excess, "no more than necessary"
        self.open_ones[opened.id] = opened
        assert opened.update([WantedPartition(key, 0, 1) for key in self.keys(room)])

    def resume(self) -> None:
        if self.open_ones:
            session = self.random.choice(self.sessions)
            epoch = session.epoch
            self.cache.resume(session.id, epoch, False, self.now_ms, session.reader)
            assert (session.epoch, session.used_ms) == (epoch + 1, self.now_ms)

    def grow(self) -> None:
        if self.open_ones:
            session = self.random.choice(self.sessions)
            free, held = ROOM_MAX - self.cache.room.held, session.held
            key = FetchKey(LONG_NAME if self.random.random() < 0.5 else "t", 50)
            is_new = key not in session.partitions
            fits = not is_new or room_of(key) <= free
            assert session.update([WantedPartition(key, 0, 1)]) == fits
            assert session.held == held + (room_of(key) if is_new and fits else 0)

    def shrink(self) -> None:
        if self.open_ones:
            session = self.random.choice(self.sessions)
            session.update(
                (), self.random.sample(list(session.partitions), len(session.partitions) // 2)
            )

    def leave(self) -> None:
        if self.open_ones:
            reader = self.random.choice(self.sessions).reader
            assert reader is not None
            reader.is_disconnected = True

    def close(self) -> None:
        if self.open_ones:
            self.cache.close(self.random.choice(self.sessions).id)

    def wait(self) -> None:
        self.now_ms += self.random.choice((1, EVICTION_MS // 2, EVICTION_MS, EVICTION_MS + 1))

    # Rules

    @property
    def sessions(self) -> list[FetchSession]:
        return list(self.open_ones.values())

    def is_unused(self, session: FetchSession) -> bool:
        return session.is_orphaned or self.now_ms - session.used_ms > EVICTION_MS

    def is_settled(self, session: FetchSession) -> bool:
        return self.now_ms - session.created_ms > EVICTION_MS

    def may_go_for_room(self, session: FetchSession, room: int, is_follower: bool) -> bool:
        is_larger = session.held > room and (is_follower or not session.is_follower)
        return self.is_unused(session) or (is_larger and self.is_settled(session))

    def may_go(self, session: FetchSession, room: int, is_follower: bool) -> bool:
        is_protected = session.is_follower and not is_follower
        return (
            self.may_go_for_room(session, room, is_follower)
            or (self.is_settled(session) and not is_protected)
            or (is_follower and not session.is_follower)
        )

    def can_make_room(self, room: int, is_follower: bool) -> bool:
        if room > ROOM_MAX:
            return False
        free = ROOM_MAX - self.cache.room.held
        if free >= room:
            return True
        rest = (each for each in self.sessions if self.may_go_for_room(each, room, is_follower))
        return free + sum(each.held for each in rest) >= room

    def check(self) -> None:
        assert len(self.cache) == len(self.open_ones) <= SLOTS_MAX
        for number, session in self.open_ones.items():
            assert self.cache.get(number) is session
            assert session.held == sum(room_of(key) for key in session.partitions)
            assert not session.is_closed
        assert self.cache.room.held == sum(each.held for each in self.sessions) <= ROOM_MAX


@pytest.mark.parametrize("seed", range(15))
def test_sessions_keep_to_their_bounds_and_only_those_go_who_may(seed: int) -> None:
    world = World(Random(seed))
    steps = [world.open] * 4 + [world.resume] * 3 + [
        world.grow, world.shrink, world.leave, world.close, world.wait, world.wait,
    ]  # fmt: skip
    for _ in range(300):
        world.random.choice(steps)()
        world.check()
