"""Which quota applies to a client, and which clients share it.

A quota is for a user, for a client id, or for a client id of a user; each of them by name, or the
default for those without a quota of their own. The first match in `LEVELS` applies, as in Kafka;
clients with the same match share one meter. While any quota is set, usage of clients without one
is recorded too: it counts if they get one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from ottla.metadata.records import QuotaEntity

USER, CLIENT_ID, IP = "user", "client-id", "ip"


class Part(Enum):
    NAMED = 0
    DEFAULT = 1
    ABSENT = 2


LEVELS: tuple[tuple[Part, Part], ...] = (  # user, client id
    (Part.NAMED, Part.NAMED),
    (Part.NAMED, Part.DEFAULT),
    (Part.NAMED, Part.ABSENT),
    (Part.DEFAULT, Part.NAMED),
    (Part.DEFAULT, Part.DEFAULT),
    (Part.DEFAULT, Part.ABSENT),
    (Part.ABSENT, Part.NAMED),
    (Part.ABSENT, Part.DEFAULT),
)


class MeterKey(NamedTuple):
    """The clients that share a meter; None if the name does not matter."""

    user: str | None
    client_id: str | None


class FoundLimit(NamedTuple):
    key: MeterKey
    limit: float  # LIMITLESS without a quota


LIMITLESS = 2.0**63  # never reached; sums of much larger limits would overflow


class Limits:
    """The quotas of one kind, such as `producer_byte_rate`."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._limits: dict[tuple[Name, Name], float] = {}
        self._counts: Counter[tuple[Part, Part]] = Counter()  # of limits, by level
        self._count_levels()

    def change(self, entity: QuotaEntity, limits: Mapping[str, float]) -> None:
        """Apply the new limit of an entity, at the same cost for any number of entities."""
        names = named(dict(entity))
        level = part_of(names[0]), part_of(names[1])
        if self._limits.pop(names, None) is not None:
            self._counts[level] -= 1
        if self._key in limits:
            self._limits[names] = min(limits[self._key], LIMITLESS)
            self._counts[level] += 1
        if (level in self._levels) != (self._counts[level] > 0):
            self._count_levels()

    def _count_levels(self) -> None:
        self._levels = [level for level in LEVELS if self._counts[level]]
        kinds = {
            (user is not Part.ABSENT, client is not Part.ABSENT) for user, client in self._levels
        }
        # Clients without a quota share meters as those with one, if all quotas are of one kind.
        self._by_user, self._by_client = kinds.pop() if len(kinds) == 1 else (False, True)

    def __bool__(self) -> bool:
        return bool(self._levels)

    def find(self, user: str, client_id: str) -> FoundLimit:
        """The limit of this client. Clients without a name have no quota by name."""
        for level in self._levels:
            of_user, of_client = level
            if of_client is not Part.ABSENT and not client_id:
                continue
            limit = self._limits.get((name_in(of_user, user), name_in(of_client, client_id)))
            if limit is not None:
                key = MeterKey(
                    None if of_user is Part.ABSENT else user,
                    None if of_client is Part.ABSENT else client_id,
                )
                return FoundLimit(key, limit)
        key = MeterKey(user if self._by_user else None, client_id if self._by_client else None)
        return FoundLimit(key, LIMITLESS)


Name = str | Part  # a name, or the default, or absent


def named(names: Mapping[str, str | None]) -> tuple[Name, Name]:
    """The entity as (user, client id)."""
    user, client = (names.get(kind, Part.ABSENT) for kind in (USER, CLIENT_ID))
    return (Part.DEFAULT if user is None else user, Part.DEFAULT if client is None else client)


def name_in(part: Part, name: str) -> Name:
    return name if part is Part.NAMED else part


def part_of(name: Name) -> Part:
    return name if isinstance(name, Part) else Part.NAMED


class AddressLimits:
    """New connections per second: the default, and that of addresses with their own quota."""

    def __init__(self) -> None:
        self.default: float | None = None
        self.by_address: dict[str, float] = {}
        self._is_changed = False

    def change(self, entity: QuotaEntity, limits: Mapping[str, float]) -> None:
        kind, name = entity[0]
        if kind != IP:
            return
        self._is_changed = True
        rate = limits.get("connection_creation_rate")
        if name is None:
            self.default = rate
        elif rate is None:
            self.by_address.pop(name, None)
        else:
            self.by_address[name] = rate

    def take_changed(self) -> bool:
        """Whether anything has changed since the last call."""
        is_changed, self._is_changed = self._is_changed, False
        return is_changed
