"""Requests on their way to brokers: one connection each, a bounded number of requests on it.

Owns      the producer's connections, and which batches each unanswered request carries.
Leaves    what goes into a request, and what an answer means, to `produce_delivery.py`.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ottla.client.cluster import Cluster
from ottla.client.connection import Connection
from ottla.client.produce_window import PendingBatch
from ottla.client.settings import Address
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.produce_request import ProduceRequest
from ottla.protocol.messages.produce_response import ProduceResponse


class Sent(NamedTuple):
    """What a request carried, and the topics it named by these ids."""

    batches: list[PendingBatch]
    topic_ids: dict[str, bytes]


class Lane:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.in_flight: deque[Sent] = deque()


class Lanes:
    def __init__(self, cluster: Cluster, in_flight_max: int) -> None:
        self._cluster = cluster
        self._in_flight_max = in_flight_max
        self._lanes: dict[int, Lane] = {}

    def close(self) -> None:
        for lane in self._lanes.values():
            lane.connection.close()
        self._lanes.clear()

    def has_room(self, broker_id: int) -> bool:
        lane = self._lanes.get(broker_id)
        return lane is None or len(lane.in_flight) < self._in_flight_max

    def is_busy(self, broker_id: int) -> bool:
        lane = self._lanes.get(broker_id)
        return lane is not None and bool(lane.in_flight)

    def has_answer(self, broker_id: int) -> bool:
        """Whether an answer is there, or the news that there will be none."""
        return self.is_busy(broker_id) and self._lanes[broker_id].connection.has_data

    def next_busy(self) -> int | None:
        """A broker whose answer is there, else any that owes one."""
        busy = [broker_id for broker_id in self._lanes if self.is_busy(broker_id)]
        if len(busy) > 1:
            return next((each for each in busy if self.has_answer(each)), busy[0])
        return busy[0] if busy else None

    def open(self, broker_id: int) -> None:
        if broker_id not in self._lanes:
            self._lanes[broker_id] = Lane(self._cluster.open_connection(broker_id))

    def version(self, broker_id: int, at_most: int | None) -> int:
        return self._lanes[broker_id].connection.version_of(ApiKey.PRODUCE, at_most)

    def send(self, broker_id: int, request: ProduceRequest, version: int, sent: Sent) -> None:
        """If it fails, `lose` has the batches."""
        lane = self._lanes[broker_id]
        lane.in_flight.append(sent)
        lane.connection.send(request, version=version)

    def receive(self, broker_id: int) -> tuple[Sent, ProduceResponse]:
        """The answer to the oldest request; if that fails, `lose` has the batches."""
        lane = self._lanes[broker_id]
        answer: ProduceResponse = lane.connection.receive()
        return lane.in_flight.popleft(), answer

    def address(self, broker_id: int) -> Address:
        return self._lanes[broker_id].connection.address

    def lose(self, broker_id: int) -> list[PendingBatch]:
        """Give up the connection; the batches that nobody knows the fate of, in order."""
        lane = self._lanes.pop(broker_id, None)
        if lane is None:
            return []
        lane.connection.close()
        return [batch for sent in lane.in_flight for batch in sent.batches]
