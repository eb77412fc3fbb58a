"""The connections of a producer: one to each broker, with a bounded number of requests in flight.

Owns      the connections, and the batches of each request without a response.
Leaves    the content of requests and responses to `delivery.py`.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from ottla.client.cluster.cluster import Cluster
from ottla.client.connections.connection import ClientConnection
from ottla.client.producing.partition_window import PendingBatch
from ottla.config.addresses import Address
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.produce_request import ProduceRequest
from ottla.protocol.messages.produce_response import ProduceResponse


class Sent(NamedTuple):
    """The batches of a request, and the ids of its topics."""

    batches: list[PendingBatch]
    topic_ids: dict[str, bytes]


class BrokerConnection:
    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.in_flight: deque[Sent] = deque()


class ProduceConnections:
    def __init__(self, cluster: Cluster, in_flight_max: int) -> None:
        self._cluster = cluster
        self._in_flight_max = in_flight_max
        self._connections: dict[int, BrokerConnection] = {}

    def close(self) -> None:
        for broker in self._connections.values():
            broker.connection.close()
        self._connections.clear()

    def has_room(self, broker_id: int) -> bool:
        broker = self._connections.get(broker_id)
        return broker is None or len(broker.in_flight) < self._in_flight_max

    def is_busy(self, broker_id: int) -> bool:
        broker = self._connections.get(broker_id)
        return broker is not None and bool(broker.in_flight)

    def has_answer(self, broker_id: int) -> bool:
        """Whether a response, or the end of the connection, can be read without waiting."""
        return self.is_busy(broker_id) and self._connections[broker_id].connection.has_data

    def next_busy(self) -> int | None:
        """A broker whose response can be read, else any with requests in flight."""
        busy = [broker_id for broker_id in self._connections if self.is_busy(broker_id)]
        if len(busy) > 1:
            return next((each for each in busy if self.has_answer(each)), busy[0])
        return busy[0] if busy else None

    def open(self, broker_id: int) -> None:
        if broker_id not in self._connections:
            self._connections[broker_id] = BrokerConnection(
                self._cluster.open_connection(broker_id)
            )

    def version(self, broker_id: int, at_most: int | None) -> int:
        return self._connections[broker_id].connection.version_of(ApiKey.PRODUCE, at_most)

    def send(self, broker_id: int, request: ProduceRequest, version: int, sent: Sent) -> None:
        """If it fails, `lose` returns the batches."""
        broker = self._connections[broker_id]
        broker.in_flight.append(sent)
        broker.connection.send(request, version=version)

    def receive(self, broker_id: int) -> tuple[Sent, ProduceResponse]:
        """The response to the oldest request; if that fails, `lose` returns the batches."""
        broker = self._connections[broker_id]
        answer: ProduceResponse = broker.connection.receive()
        return broker.in_flight.popleft(), answer

    def address(self, broker_id: int) -> Address:
        return self._connections[broker_id].connection.address

    def lose(self, broker_id: int) -> list[PendingBatch]:
        """Close the connection; the batches that may or may not be stored, in order."""
        broker = self._connections.pop(broker_id, None)
        if broker is None:
            return []
        broker.connection.close()
        return [batch for sent in broker.in_flight for batch in sent.batches]
