"""What the groups of a shard share: clock, settings, topics, and the effects of the current step.

A step is one decision of a group, with its records. During the decision the group collects here
what has to follow: responses to waiting requests, changes of soft state once the records are
written, and changes to undo if the log rejects them. `end_step` executes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from ottla.base.scheduling.timers import Timers
from ottla.config.broker_options import BrokerConfig
from ottla.config.resource_options import GroupConfig
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message
from ottla.protocol.messages.join_group_response import JoinGroupResponse
from ottla.protocol.messages.sync_group_response import SyncGroupResponse

GROUP_BYTES = 2000  # estimated memory of a group without members
MEMBER_BYTES = 1500  # of a member, without its metadata
PENDING_BYTES = 700  # of a pending id, with its timer
# timeout of a new member's join, whose client may have given up
NEW_MEMBER_TIMEOUT_MS = 5 * 60 * 1000


class Caller(NamedTuple):
    """The client of a request, and the request version."""

    client_id: str
    client_host: str
    version: int


class Reply(Protocol):
    """A response that a request waits for. Sending it a second time has no effect."""

    def give(self, response: Any) -> None: ...


class PostedResponse(NamedTuple):
    """A response that is sent once the records of its step are replicated."""

    reply: Reply
    response: Message

    def give(self) -> None:
        self.reply.give(self.response)

    def failed(self, code: ErrorCode) -> PostedResponse:
        """The response if they cannot be replicated."""
        if isinstance(self.response, JoinGroupResponse):
            refusal = JoinGroupResponse(error_code=code, member_id=self.response.member_id)
            return PostedResponse(self.reply, refusal)
        assert isinstance(self.response, SyncGroupResponse)
        return PostedResponse(self.reply, SyncGroupResponse(error_code=code))


class TimerKind(Enum):
    """The kinds of timers."""

    INITIAL_JOIN = "more members of a new group"
    JOIN = "all members to join"
    SYNC = "all members to sync"
    SESSION = "a sign of life"
    REVOCATION = "a member to give up partitions"
    MEMBER_JOIN = "a classic member to join again"
    MEMBER_SYNC = "a classic member to sync"

    # identity is sufficient, and deadlines are looked up at every heartbeat
    __hash__ = object.__hash__


class Deadline(NamedTuple):
    """The key of a timer: of a group, or of one of its members."""

    group_id: str
    waits: TimerKind
    member_id: str = ""


@dataclass(slots=True)
class Usage:
    """The total usage of all shards of a broker."""

    member_bytes: int = 0  # estimate: members, their metadata and assignments, and groups
    offsets: int = 0


@dataclass(slots=True)
class ShardContext:
    config: BrokerConfig
    group_config: Callable[[str], GroupConfig]
    image: Image
    timers: Timers[Deadline]
    now_ms: Callable[[], int]
    new_id: Callable[[], str]  # random part of member ids
    topics_version: int = 0  # incremented when topics or partitions change
    usage: Usage = field(default_factory=Usage)
    # The current step
    outbox: list[PostedResponse] = field(default_factory=list)
    on_written: list[Callable[[], None]] = field(default_factory=list)
    on_refused: list[Callable[[ErrorCode], None]] = field(default_factory=list)
    # Of consumer groups: the topic version that each has seen, and groups whose patterns are to be
    # resolved, or are being resolved.
    checked: dict[str, int] = field(default_factory=dict)
    unresolved: set[str] = field(default_factory=set)
    resolving: set[str] = field(default_factory=set)
    # Of large consumer groups: those that need a new target assignment, or are being assigned one.
    unassigned: set[str] = field(default_factory=set)
    assigning: set[str] = field(default_factory=set)

    def check_room(self, held_bytes: int, more_bytes: int) -> None:
        """BrokerError if a group with this usage may not grow."""
        if more_bytes <= 0:
            return
        if held_bytes + more_bytes > self.config.ottla_group_bytes_max:
            what = f"The group would need more than {self.config.ottla_group_bytes_max} bytes."
            raise BrokerError(ErrorCode.GROUP_MAX_SIZE_REACHED, what)
        if self.usage.member_bytes + more_bytes > self.config.ottla_groups_bytes_max:
            what = f"All groups hold {self.usage.member_bytes} bytes."
            raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE, what)

    def answer(self, reply: Reply, response: Message) -> None:
        """Send the response once the records of this step are replicated."""
        self.outbox.append(PostedResponse(reply, response))

    def when_written(self, effect: Callable[[], None]) -> None:
        """Change soft state once the records of this step are written."""
        self.on_written.append(effect)

    def when_refused(self, undo: Callable[[ErrorCode], None]) -> None:
        """Undo a change of soft state if the log rejects the records of this step."""
        self.on_refused.append(undo)

    def end_step(self, refusal: ErrorCode | None = None) -> Sequence[PostedResponse]:
        """The records of the step were written or rejected; returns the responses."""
        on_written, self.on_written = self.on_written, []
        on_refused, self.on_refused = self.on_refused, []
        if refusal is None:
            for effect in on_written:
                effect()
            return self.take_posted()
        posted = [each.failed(refusal) for each in self.take_posted()]
        for undo in on_refused:
            undo(refusal)
        return [*posted, *self.take_posted()]

    def cancel_step(self) -> None:
        """The decision failed: discard its effects."""
        self.on_written.clear()
        self.on_refused.clear()
        self.outbox.clear()

    def take_posted(self) -> list[PostedResponse]:
        posted, self.outbox = self.outbox, []
        return posted
