"""The Kafka clients that tests share: confluent-kafka's, made when they are first needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RECONNECT_MS = 200  # after a restart no test should wait longer, however long it lasted
MESSAGE_BYTES_MAX = 100_000_000  # of a request; the topic's max.message.bytes is the limit


class Clients:
    """A producer and an admin client that the tests of one run share."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers
        self._made: dict[str, Any] = {}

    @property
    def producer(self) -> Any:
        settings = {"linger.ms": 1, "message.max.bytes": MESSAGE_BYTES_MAX}
        return self._shared("confluent_kafka", "Producer", settings)

    @property
    def admin(self) -> Any:
        return self._shared("confluent_kafka.admin", "AdminClient", {})

    def end(self, name: str) -> None:
        """The next use makes another one."""
        self._made.pop(name, None)

    def consumer(self, settings: Mapping[str, Any]) -> Any:
        return load("confluent_kafka", "Consumer")({**self._common(), **settings})

    def _shared(self, module: str, name: str, settings: Mapping[str, Any]) -> Any:
        if name not in self._made:
            self._made[name] = load(module, name)({**self._common(), **settings})
        return self._made[name]

    def _common(self) -> dict[str, Any]:
        # A broker that is killed on purpose is not reported.
        return {
            "bootstrap.servers": self.bootstrap_servers,
            "log_level": 0,
            "reconnect.backoff.max.ms": RECONNECT_MS,
        }


def load(module: str, name: str) -> Any:
    from importlib import import_module

    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise RuntimeError(
            "ottla.testing.Kafka needs confluent-kafka: pip install 'ottla[testing]'"
        ) from error
