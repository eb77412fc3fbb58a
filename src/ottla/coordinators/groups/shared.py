"""What the groups of a shard have in common: time, settings, topics, and the way back to clients.

A `Reply` is an answer that somebody waits for. State machines never give it themselves: they put it
into the outbox, and it goes out when the records of the same step are replicated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from ottla.config.broker_options import BrokerConfig
from ottla.config.resource_options import GroupConfig
from ottla.coordinators.groups.timers import Timers
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message

GROUP_BYTES = 2000  # about what a group without members takes
MEMBER_BYTES = 1500  # a member, besides what it says
PENDING_BYTES = 700  # an id that was given away, with its timer
NEW_MEMBER_TIMEOUT_MS = 5 * 60 * 1000  # a new member's join that its client has given up


class Caller(NamedTuple):
    """Who sends a request, and in which version."""

    client_id: str
    client_host: str
    version: int


class Reply(Protocol):
    """An answer that somebody waits for. Giving it a second time changes nothing."""

    def give(self, response: Any) -> None: ...


class Posted(NamedTuple):
    reply: Reply
    response: Message


class Waits(Enum):
    """What a group can wait for."""

    INITIAL_JOIN = "more members of a new group"
    JOIN = "all members to join"
    SYNC = "all members to sync"
    SESSION = "a sign of life"
    REVOCATION = "a member to give up partitions"
    MEMBER_JOIN = "a classic member to join again"
    MEMBER_SYNC = "a classic member to sync"


class Deadline(NamedTuple):
    """The name of a timer: of a group, or of one of its members."""

    group_id: str
    waits: Waits
    member_id: str = ""


@dataclass(slots=True)
class Usage:
    """What the groups of a broker hold, over all of its shards."""

    member_bytes: int = 0  # about: of members, their metadata and assignments, and of groups
    offsets: int = 0


@dataclass(slots=True)
class Shared:
    config: BrokerConfig
    group_config: Callable[[str], GroupConfig]
    image: Image
    timers: Timers[Deadline]
    now_ms: Callable[[], int]
    new_id: Callable[[], str]  # random, for member ids
    topics_version: int = 0  # grows when topics or partitions come or go
    usage: Usage = field(default_factory=Usage)
    outbox: list[Posted] = field(default_factory=list)
    effects: list[Callable[[], None]] = field(default_factory=list)
    # Of consumer groups: the version of the topics that each has seen, and whose patterns are to be
    # compared with all topics, or are being.
    checked: dict[str, int] = field(default_factory=dict)
    unresolved: set[str] = field(default_factory=set)
    resolving: set[str] = field(default_factory=set)
    # Of large consumer groups: which need a new target assignment, or are getting one.
    unassigned: set[str] = field(default_factory=set)
    assigning: set[str] = field(default_factory=set)

    def check_room(self, held_bytes: int, more_bytes: int) -> None:
        """BrokerError if a group that holds so much may not hold more."""
        if more_bytes <= 0:
            return
        if held_bytes + more_bytes > self.config.ottla_group_bytes_max:
            what = f"The group would need more than {self.config.ottla_group_bytes_max} bytes."
            raise BrokerError(ErrorCode.GROUP_MAX_SIZE_REACHED, what)
        if self.usage.member_bytes + more_bytes > self.config.ottla_groups_bytes_max:
            what = f"All groups hold {self.usage.member_bytes} bytes."
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE, what)

    def answer(self, reply: Reply, response: Message) -> None:
        """Give the response once the records of this step are replicated."""
        self.outbox.append(Posted(reply, response))

    def when_written(self, effect: Callable[[], None]) -> None:
        """Change soft state once the records of this step are written, and only then."""
        self.effects.append(effect)

    def take_effect(self, *, is_written: bool) -> None:
        effects, self.effects = self.effects, []
        for effect in effects if is_written else ():
            effect()

    def take_posted(self) -> list[Posted]:
        posted, self.outbox = self.outbox, []
        return posted
