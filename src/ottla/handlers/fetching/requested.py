"""The partitions that a Fetch request reads: those it names, or those of its session (KIP-227).

`update_session` applies the request to its session: it resumes the session, or closes it and opens
a new one. The constructor only reads the request.

Promises  of duplicate partitions the last one is used, as in Kafka. A method that ends in `-ing`
          does what the one without does, in slices. A request that the next one of its session has
          ended reads nothing more: the positions are those of the next request by then.
Leaves    the sessions themselves, and their eviction, to `FetchSessions`, reading to
          `partition_read.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ottla.base.ids import NO_BROKER_EPOCH
from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.context import Context
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.replication.fetch_sessions import (
    FINAL_EPOCH,
    FULL_EPOCH,
    NO_MARK,
    NO_SESSION,
    FetchKey,
    FetchSession,
    WantedPartition,
)

RACKS_FROM = 11
TOPIC_IDS_FROM = 13
NO_SESSION_EPOCH = -1
NO_RACK = ""
READ_COMMITTED = 1

Named = dict[FetchKey, WantedPartition]


class RequestedPartitions:
    def __init__(self, request: FetchRequest, context: Context) -> None:
        self.request = request
        # Not the context: it refers to this object, to undo what a refused request has done.
        self._parts = context.parts
        self._peer = context.peer
        self.uses_ids = context.version >= TOPIC_IDS_FROM
        self.is_committed = request.isolation_level == READ_COMMITTED
        self.follower, self.follower_epoch = request.replica_id, NO_BROKER_EPOCH
        if request.replica_state is not None:
            self.follower = request.replica_state.replica_id
            self.follower_epoch = request.replica_state.replica_epoch
        # Older clients cannot be sent to another replica, and find all records at the leader.
        self.may_read_followers = context.version >= RACKS_FROM and not self.is_follower
        self.rack = self._rack()
        self.is_full = request.session_epoch in (FULL_EPOCH, FINAL_EPOCH)
        self.session: FetchSession | None = None
        self._session_epoch = NO_SESSION_EPOCH  # after this request
        self.named: Named = {}  # without a session

    def _rack(self) -> str:
        """The consumer's, if it is to be sent to a replica there."""
        selector = self._parts.config.broker.replica_selector_class
        return self.request.rack_id if selector and self.may_read_followers else NO_RACK

    @property
    def is_follower(self) -> bool:
        return self.follower >= 0

    @property
    def must_respond(self) -> bool:
        """Whether a response must be sent now, with or without data."""
        session = self.session
        if session is None:
            return False
        return session.has_offset_updates or self.is_ended

    @property
    def is_ended(self) -> bool:
        """Whether the next request of the session has come."""
        return self.session is not None and self.session.epoch != self._session_epoch

    def note_response(self) -> None:
        if self.session is not None and not self.is_ended:
            self.session.has_offset_updates = False

    @property
    def session_id(self) -> int:
        return NO_SESSION if self.session is None else self.session.id

    @property
    def count(self) -> int:
        """The number of partitions to read now."""
        return len(self.named if self.session is None else self.session.marked)

    def partitions(self) -> Iterable[WantedPartition]:
        """The partitions to read now."""
        return self.named.values() if self.session is None else self.session.partitions_to_read()

    def mark_of(self, key: FetchKey) -> int:
        """The session's mark of a partition that is about to be read."""
        return NO_MARK if self.session is None else self.session.marked.get(key, NO_MARK)

    def ordering(self) -> Steps[Iterable[WantedPartition]]:
        if self.session is not None:
            return (yield from self.session.ordering())
        return self.named.values()

    def freeing_named(self) -> Steps[None]:
        """In slices, as freeing very many at once takes long."""
        named = self.named
        while named:
            named.popitem()
            yield 0

    def close_new_session(self) -> None:
        """The response does not contain its id, so no request can use it."""
        if self.session is not None and self.is_full:
            self._parts.fetch_sessions.close(self.session.id)
            self.session = None

    # The session

    def update_session(self) -> None:
        """Called once, before the partitions are read. May close this and evict other sessions."""
        if not self.is_full:
            session = self._resume()
            has_room = session.update(self._named())
            for key in self._forgotten():
                self._leave(session, key)
            self._continue(session, has_room)
            return
        self._close_session()
        named = self.named
        for wanted in self._named():
            named[wanted.key] = wanted
        session_or_none = self._open()
        if session_or_none is not None:
            self._use(session_or_none, session_or_none.update(named.values()))

    def updating_session(self) -> Steps[None]:
        if not self.is_full:
            session = self._resume()
            has_room = True
            for wanted in self._named():
                has_room = session.add(wanted)
                yield 0
                if not has_room:
                    break
            for key in self._forgotten():
                self._leave(session, key)
                yield 0
            self._continue(session, has_room)
            return
        self._close_session()
        named = self.named
        for wanted in self._named():
            named[wanted.key] = wanted
            yield 0
        session_or_none = self._open()
        if session_or_none is not None:
            yield from self._filling(session_or_none)

    def _filling(self, session: FetchSession) -> Steps[None]:
        has_room = False
        try:
            for wanted in self.named.values():
                has_room = session.add(wanted)
                yield 0
                if not has_room:
                    break
        except GeneratorExit:
            self._parts.fetch_sessions.close(session.id)
            raise
        self._use(session, has_room)

    def _resume(self) -> FetchSession:
        request, parts = self.request, self._parts
        return parts.fetch_sessions.resume(
            request.session_id,
            request.session_epoch,
            self.uses_ids,
            parts.clock.now_ms(),
            self._peer,
        )

    def _continue(self, session: FetchSession, has_room: bool) -> None:
        sessions = self._parts.fetch_sessions
        if not has_room:  # the client then sends a full request
            sessions.close(session.id)
            raise BrokerError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.partitions:
            self.session, self._session_epoch = session, session.epoch
        else:  # an empty session is closed; the response has no session id
            sessions.close(session.id)

    def _open(self) -> FetchSession | None:
        if self.request.session_epoch == FINAL_EPOCH:
            return None
        parts = self._parts
        return parts.fetch_sessions.open(
            len(self.named),
            self.is_follower,
            self.uses_ids,
            parts.clock.now_ms(),
            self._peer,
        )

    def _use(self, session: FetchSession, has_room: bool) -> None:
        if has_room or not self.named:
            self.session, self._session_epoch, self.named = session, session.epoch, {}
        else:
            self._parts.fetch_sessions.close(session.id)

    def _close_session(self) -> None:
        if self.request.session_id != NO_SESSION:
            self._parts.fetch_sessions.close(self.request.session_id)

    def _leave(self, session: FetchSession, key: FetchKey) -> None:
        session.forget(key)
        self._parts.replicas.leave(session, key)

    # What the request names

    def _named(self) -> Iterator[WantedPartition]:
        for topic in self.request.topics:
            key = topic.topic_id if self.uses_ids else self._interned_name(topic.topic)
            for each in topic.partitions:
                yield WantedPartition(
                    FetchKey(key, each.partition),
                    each.fetch_offset,
                    each.partition_max_bytes,
                    each.current_leader_epoch,
                    each.last_fetched_epoch,
                    each.log_start_offset,
                )

    def _interned_name(self, name: str) -> str:
        """The broker's own string, where there is such a topic: thousands of names in thousands of
        waiting fetches are not kept again for each of them."""
        topic = self._parts.metadata.topic(name)
        return name if topic is None else topic.name

    def _forgotten(self) -> Iterator[FetchKey]:
        for topic in self.request.forgotten_topics_data:
            key = topic.topic_id if self.uses_ids else topic.topic
            for partition in topic.partitions:
                yield FetchKey(key, partition)
