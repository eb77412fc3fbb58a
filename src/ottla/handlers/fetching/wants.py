"""What a Fetch request wants: all its partitions, or what has changed in its session (KIP-227).

Owns      finding, opening and closing the reader's session.
Leaves    what is read to `reading.py`, what is told to `answering.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ottla.handlers.context import Context
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.replication.fetch_sessions import (
    FINAL_EPOCH,
    FULL_EPOCH,
    NO_SESSION,
    FetchKey,
    FetchSession,
    WantedPartition,
)

TOPIC_IDS_FROM = 13
READ_COMMITTED = 1


class Wants:
    def __init__(self, request: FetchRequest, context: Context) -> None:
        self.request = request
        self._context = context
        self.uses_ids = context.version >= TOPIC_IDS_FROM
        self.is_committed = request.isolation_level == READ_COMMITTED
        self.follower = request.replica_id
        if request.replica_state is not None:
            self.follower = request.replica_state.replica_id
        self.is_full = request.session_epoch in (FULL_EPOCH, FINAL_EPOCH)
        self.session = self._find_session()

    @property
    def is_follower(self) -> bool:
        return self.follower >= 0

    @property
    def session_id(self) -> int:
        return NO_SESSION if self.session is None else self.session.id

    def partitions(self) -> Iterable[WantedPartition]:
        """Those to look at now."""
        return self._named() if self.session is None else self.session.to_look_at()

    def forget_new_session(self) -> None:
        """The answer will not tell of it: it was not opened."""
        if self.session is not None and self.is_full:
            self._context.parts.close_fetch_session(self.session.id)
            self.session = None

    def _find_session(self) -> FetchSession | None:
        """The session to read from. A client's request names partitions only as they change."""
        request, parts = self.request, self._context.parts
        now_ms = parts.clock.now_ms()
        if not self.is_full:
            session = parts.fetch_sessions.resume(
                request.session_id, request.session_epoch, self.uses_ids, now_ms
            )
            forgotten = self._forgotten()
            parts.replicas.leave(session, forgotten)
            session.update(self._named(), forgotten)
            if session.partitions:
                return session
            # Nothing is left to tell of: it ends here, and the answer says so.
            parts.close_fetch_session(session.id)
            return None
        if request.session_id != NO_SESSION:
            parts.close_fetch_session(request.session_id)
        if request.session_epoch == FINAL_EPOCH:
            return None
        wanted = list(self._named())
        opened = parts.fetch_sessions.open(len(wanted), self.is_follower, self.uses_ids, now_ms)
        if opened is not None:
            opened.update(wanted, ())
        return opened

    def _named(self) -> Iterator[WantedPartition]:
        for topic in self.request.topics:
            key = topic.topic_id if self.uses_ids else topic.topic
            for each in topic.partitions:
                yield WantedPartition(
                    FetchKey(key, each.partition),
                    each.fetch_offset,
                    each.partition_max_bytes,
                    each.current_leader_epoch,
                    each.last_fetched_epoch,
                    each.log_start_offset,
                )

    def _forgotten(self) -> list[FetchKey]:
        return [
            FetchKey(topic.topic_id if self.uses_ids else topic.topic, partition)
            for topic in self.request.forgotten_topics_data
            for partition in topic.partitions
        ]
