"""A thread that fetches from one broker, one response ahead of the reader.

Owns      one connection, and the fetch session on it.
Promises  the next request is sent before a response is delivered, and its response is received
          while the reader decodes; only a few responses are in memory. The thread ends when there
          is nothing left to read, when the connection fails, or when it is stopped.
Leaves    handling errors to `fetcher.py`, which gets the positions back.
Threads   `add` and `stop` from any; the rest in its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf

from ottla.client.cluster.retries import Reaction, reaction_to
from ottla.client.connections.connection import ClientConnection
from ottla.client.errors import ClientError, ConnectionLost, MalformedAnswer, kafka_error
from ottla.client.fetching.bounded_queue import BoundedQueue
from ottla.client.fetching.fetch_session import ClientFetchSession, FetchLimits
from ottla.client.fetching.read_position import ReadPosition
from ottla.client.fetching.response_content import ResponseContent
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import MalformedMessage

JOIN_S = 2.0
SILENT_S = 3.0  # longer than a broker that works needs for a response, beside its waiting time
REFUSALS_MAX = 3  # of a fetch session, in a row


@dataclass
class Delivery:
    """The content of one response, or the end of the stream with its positions."""

    content: ResponseContent = field(default_factory=ResponseContent)
    error: Exception | None = None
    returned: list[ReadPosition] = field(default_factory=list)


class FetchStream:
    def __init__(
        self,
        broker_id: int,
        open_connection: Callable[[], ClientConnection],
        limits: FetchLimits,
        deliveries: BoundedQueue[Delivery],
        positions: list[ReadPosition],
        rack: str = "",
    ) -> None:
        self.broker_id = broker_id
        self._rack = rack
        self._open_connection = open_connection
        self._limits = limits
        self._deliveries = deliveries
        self._lock = threading.Lock()
        self._added = positions
        self._connection: ClientConnection | None = None
        self._session: ClientFetchSession | None = None
        self._sent_s = inf  # when the request without a response was sent
        self._is_ended = False
        self._is_stopped = False
        self._thread = threading.Thread(
            target=self._run, name=f"fetch from broker {broker_id}", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def add(self, position: ReadPosition) -> bool:
        """Read this as well, from the next request on. False if it has ended already."""
        with self._lock:
            if self._is_ended:
                return False
            self._added.append(position)
            return True

    def is_silent(self, now_s: float) -> bool:
        """Whether the broker does not answer: it may be paused, or cut off."""
        return now_s - self._sent_s > SILENT_S + self._limits.max_wait_ms / 1000

    @property
    def positions(self) -> list[ReadPosition]:
        """The positions. Only for a silent stream: those of others change concurrently."""
        session = self._session
        return list(session.positions.values()) if session is not None else []

    def give_up(self) -> None:
        """Do not wait for the response any longer: the positions are returned."""
        with self._lock:
            if self._connection is not None:
                self._connection.interrupt()

    def stop(self) -> None:
        with self._lock:
            self._is_stopped = True
            if self._connection is not None:
                self._connection.interrupt()

    def join(self) -> None:
        self._thread.join(JOIN_S)

    # In its own thread

    def _run(self) -> None:
        session: ClientFetchSession | None = None
        error: Exception | None = None
        try:
            session, connection = self._begin()
            self._session = session
            self._converse(session, connection)
        except Exception as caught:  # also a bug: it is raised in the thread that reads
            error = caught
        self._end(session, error)

    def _begin(self) -> tuple[ClientFetchSession, ClientConnection]:
        connection = self._open_connection()
        with self._lock:
            self._connection = connection
        has_ids = all(any(each.topic_id) for each in self._added)
        version = connection.version_of(ApiKey.FETCH, None if has_ids else 12)
        return ClientFetchSession(self._limits, version, self._rack), connection

    def _converse(self, session: ClientFetchSession, connection: ClientConnection) -> None:
        refusals = 0
        has_more = self._send_next(session, connection)
        while has_more:
            content = self._receive(session, connection)
            refusals = refusals + 1 if content.session_error else 0
            if refusals > REFUSALS_MAX:
                raise ConnectionLost(connection.address, "Fetch", content.session_error.name)
            try:
                has_more = self._send_next(session, connection)
            finally:  # the positions have moved past these records: they must be delivered
                is_wanted = self._deliveries.put(Delivery(content))
            if not is_wanted:
                return
            del content  # so that its buffer is free for the response after the next

    def _receive(
        self, session: ClientFetchSession, connection: ClientConnection
    ) -> ResponseContent:
        answer = connection.receive()
        self._sent_s = inf
        try:
            content = session.read(answer)
        except MalformedMessage as error:
            raise MalformedAnswer(connection.address, "Fetch", error) from error
        if content.session_error and reaction_to(content.session_error) is Reaction.FAIL:
            raise kafka_error(content.session_error, f"Fetch at {connection.address}")
        session.review(content, time.monotonic())
        return content

    def _send_next(self, session: ClientFetchSession, connection: ClientConnection) -> bool:
        """Send the next request. False if there is nothing left to read."""
        with self._lock:
            for position in self._added:
                session.positions[position.partition] = position
            self._added.clear()
            self._is_ended = not session.positions or self._is_stopped
            if self._is_ended:
                return False
        timeout_ms = connection.request_timeout_ms + self._limits.max_wait_ms
        connection.send(session.next_request(), version=session.version, timeout_ms=timeout_ms)
        self._sent_s = time.monotonic()
        return True

    def _end(self, session: ClientFetchSession | None, error: Exception | None) -> None:
        with self._lock:
            self._is_ended, self._sent_s = True, inf
            connection, self._connection = self._connection, None
            returned = [*(session.positions.values() if session else ()), *self._added]
        if connection is not None:
            self._give_back_slot(session, connection)
            connection.close()
        if error is not None or returned:
            self._deliveries.put(Delivery(error=error, returned=returned))

    def _give_back_slot(
        self, session: ClientFetchSession | None, connection: ClientConnection
    ) -> None:
        if session is None or not session.has_slot or not connection.is_open:
            return
        try:
            connection.send(session.closing_request(), version=session.version, timeout_ms=1000)
        except ClientError:
            pass  # the broker removes unused sessions by itself
