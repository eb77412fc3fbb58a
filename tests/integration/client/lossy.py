"""Connections to a real broker that break at random: in mid-request, and with the answer lost."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ottla.client.connections.transport import Bytes, OpenTransport, Transport, open_plain
from ottla.client.settings import ClientSettings
from ottla.config.addresses import Address


class LossyTransport:
    def __init__(self, inner: Transport, rng: random.Random, chance: float) -> None:
        self._inner, self._rng, self._chance = inner, rng, chance

    def send(self, segments: Sequence[Bytes], timeout_s: float) -> None:
        if self._rng.random() < self._chance:
            frame = b"".join(segments)
            self._inner.send([frame[: self._rng.randrange(len(frame))]], timeout_s)
            raise ConnectionResetError("cut in the middle of a request")
        self._inner.send(segments, timeout_s)

    def receive_into(self, view: memoryview, timeout_s: float) -> None:
        """What is lost has arrived first: the broker has done what was asked."""
        self._inner.receive_into(view, timeout_s)
        if self._rng.random() < self._chance:
            raise ConnectionResetError("the answer was lost")

    def has_data(self) -> bool:
        return self._inner.has_data()

    def interrupt(self) -> None:
        self._inner.interrupt()

    def close(self) -> None:
        self._inner.close()


def lossy(seed: int, chance: float) -> OpenTransport:
    rng = random.Random(seed)

    def open_transport(address: Address, settings: ClientSettings) -> Transport:
        return LossyTransport(open_plain(address, settings), rng, chance)

    return open_transport
