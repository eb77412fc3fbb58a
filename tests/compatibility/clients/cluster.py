"""A broker and admin clients of all libraries for it, made on first use and closed at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aiokafka.admin import AIOKafkaAdminClient
from confluent_kafka.admin import AdminClient
from tests.compatibility.clients.foreign.aio_kafka import AioKafka, run
from tests.compatibility.clients.foreign.java import Java
from tests.compatibility.clients.foreign.kafka_python import KafkaAdminClient, KafkaPython
from tests.compatibility.clients.foreign.librdkafka import QUIET, Librdkafka
from tests.support.java_clients import JavaClients, Printed, run_tool
from tests.support.oracle import Oracle
from tests.support.wire_tap import WireTap

PATIENCE_S = 120.0
TOOLS = "org.apache.kafka.tools."


class Cluster:
    def __init__(
        self, bootstrap: str, oracle: Oracle | None = None, tap: WireTap | None = None
    ) -> None:
        self.bootstrap = bootstrap
        self._tap = tap
        self._oracle = oracle
        self.librdkafka = Librdkafka(bootstrap)
        self.kafka_python = KafkaPython(bootstrap)
        self.aiokafka = AioKafka(bootstrap)

    # librdkafka

    def ask_librdkafka(self, act: Callable[[AdminClient], Mapping[Any, Any]]) -> dict[Any, Any]:
        """The results by what was asked for; the first refusal is raised."""
        admin = AdminClient({"bootstrap.servers": self.bootstrap, **QUIET})
        return {key: future.result(PATIENCE_S) for key, future in act(admin).items()}

    @contextmanager
    def librdkafka_admin(self) -> Iterator[AdminClient]:
        yield AdminClient({"bootstrap.servers": self.bootstrap, **QUIET})

    # kafka-python and aiokafka

    @contextmanager
    def kafka_python_admin(self) -> Iterator[Any]:
        admin = KafkaAdminClient(bootstrap_servers=self.bootstrap)
        try:
            yield admin
        finally:
            admin.close()

    def ask_aiokafka(self, act: Callable[[Any], Awaitable[Any]]) -> Any:
        async def ask() -> Any:
            admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
            await admin.start()
            try:
                return await act(admin)
            finally:
                await admin.close()
                await asyncio.sleep(0)  # its connections end

        return run(ask())

    @property
    def tap(self) -> WireTap:
        """Records what clients send to the broker."""
        assert self._tap is not None, "no proxy records requests"
        return self._tap

    # Java

    @property
    def oracle(self) -> Oracle:
        assert self._oracle is not None, "a story with Java, run without"
        return self._oracle

    @property
    def java(self) -> Java:
        return Java(self.java_clients)

    @property
    def java_clients(self) -> JavaClients:
        return JavaClients(self.oracle, self.bootstrap)

    def tool(self, name: str, *arguments: str) -> Printed:
        """A command-line tool of Kafka's, which must end well."""
        class_name = name if name.startswith("kafka.") else TOOLS + name
        printed = run_tool(
            self.oracle, class_name, "--bootstrap-server", self.bootstrap, *arguments
        )
        assert printed.status == 0, printed
        return printed
