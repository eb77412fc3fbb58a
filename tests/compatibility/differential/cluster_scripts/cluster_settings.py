"""Settings, quotas and log directories: asked of the broker that they are about, and of others."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.cluster_session import BROKERS, ClusterSession
from tests.compatibility.differential.scripting import cluster_script
from tests.compatibility.differential.scripts import quotas
from tests.compatibility.differential.scripts.configs import (
    BROKER,
    DELETE,
    LOGGER,
    SET,
    TOPIC,
    change,
    describe,
    replace,
)

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from ottla.protocol.messages.list_config_resources_request import ListConfigResourcesRequest

SOME = ["log.retention.ms", "num.partitions", "message.max.bytes", "broker.rack"]
THREADS = "background.threads"  # a setting that may be changed while a broker runs


@cluster_script(ApiKey.DESCRIBE_CONFIGS)
def describe_configs(session: ClusterSession) -> Iterator[None]:
    topic = session.placed("t", [3], configs={"retention.ms": "1000"}).name

    def ask(when: str) -> None:
        for broker_id in (*BROKERS, 4):
            request = describe((BROKER, str(broker_id), SOME), synonyms=True)
            session.everywhere(f"broker {broker_id}{when}", request)
        session.everywhere(f"all brokers{when}", describe((BROKER, "", SOME)))
        session.everywhere(f"a topic{when}", describe((TOPIC, topic, ["retention.ms"])))
        for broker_id in (2, 4):
            request = describe((LOGGER, str(broker_id), ["none"]))
            session.ask(f"loggers of {broker_id}{when}", request)

    ask("")
    yield
    ask(", 3 stopped")


@cluster_script(ApiKey.INCREMENTAL_ALTER_CONFIGS)
def incremental_alter_configs(session: ClusterSession) -> Iterator[None]:
    def ask(label: str, kind: int, name: str, *changes: tuple[str, int, str | None]) -> None:
        session.everywhere(label, change((kind, name, changes)))

    def show(label: str) -> None:
        session.settle()
        for broker_id in session.living:
            with session.at(broker_id):
                request = describe((BROKER, str(broker_id), [THREADS]), synonyms=True)
                session.ask(f"{label}, shown at {broker_id}", request, version=4)

    for broker_id in (*BROKERS, 4):
        name = str(broker_id)
        ask(f"broker {broker_id}", BROKER, name, (THREADS, SET, str(3 + broker_id)))
        ask(f"nonsense of {broker_id}", BROKER, name, (THREADS, SET, "many"))
        ask(f"read-only of {broker_id}", BROKER, name, ("broker.rack", SET, "x"))
    show("one by one")
    ask("all brokers", BROKER, "", (THREADS, SET, "3"))
    show("all")
    for broker_id in (2, 4):
        ask(f"loggers of {broker_id}", LOGGER, str(broker_id), ("none", SET, "INFO"))
    yield
    ask("the stopped one", BROKER, "3", (THREADS, SET, "4"))
    for name in ("", "1", "2", "3", "4"):
        session.quietly(change((BROKER, name, [(THREADS, DELETE, None)])), 1)


@cluster_script(ApiKey.ALTER_CONFIGS)
def alter_configs(session: ClusterSession) -> None:
    topic = session.placed("t", [3]).name
    session.everywhere("a topic", replace((TOPIC, topic, [("retention.ms", "2000")])))
    session.settle()
    session.everywhere("shown", describe((TOPIC, topic, ["retention.ms"])), version=4)
    for broker_id in (2, 4):
        session.ask(f"broker {broker_id}", replace((BROKER, str(broker_id), [(THREADS, "x")])))


@cluster_script(ApiKey.LIST_CONFIG_RESOURCES)
def list_config_resources(session: ClusterSession) -> Iterator[None]:
    def ask(when: str) -> None:
        for kind in (4, 8):
            kinds = [kind] if session.version > 0 else []
            session.everywhere(f"kind {kind}{when}", ListConfigResourcesRequest(kinds))

    ask("")
    yield
    ask(", 3 stopped")


@cluster_script(ApiKey.ALTER_CLIENT_QUOTAS)
def alter_client_quotas(session: ClusterSession) -> None:
    for broker_id in BROKERS:
        entity = [("client-id", session.name(f"client-{broker_id}"))]
        with session.at(broker_id):
            request = quotas.alter((entity, [("producer_byte_rate", 1000.0, False)]))
            session.ask(f"at {broker_id}", request)
    session.settle()

    def own(answer: Any) -> Any:
        out = copy(answer)
        prefix = session.name("")
        out.entries = [
            entry for entry in answer.entries
            if any((each.entity_name or "").startswith(prefix) for each in entry.entity)
        ]  # fmt: skip
        return out

    session.everywhere("all", quotas.describe(), version=1, shown=own)


@cluster_script(ApiKey.DESCRIBE_LOG_DIRS)
def describe_log_dirs(session: ClusterSession) -> None:
    spread = session.placed("spread", [1], [2], [3])
    for partition, broker_id in enumerate(BROKERS):
        with session.at(broker_id):
            session.append(spread, batch(b"a", b"b"), partition)
    topics = [DescribableLogDirTopic(spread.name, [0, 1, 2])]
    session.everywhere("all partitions", DescribeLogDirsRequest(topics), shown=one_directory)
    for partition in (0, 1, 2):
        topics = [DescribableLogDirTopic(spread.name, [partition])]
        request = DescribeLogDirsRequest(topics)
        session.everywhere(f"partition {partition}", request, shown=one_directory)


def one_directory(answer: Any) -> Any:
    """Its path is not the same at all brokers."""
    out = copy(answer)
    out.results = [copy(each) for each in answer.results]
    for each in out.results:
        each.log_dir = ""
    return out


@cluster_script(ApiKey.ALTER_REPLICA_LOG_DIRS)
def alter_replica_log_dirs(session: ClusterSession) -> None:
    spread = session.placed("spread", [1], [2], [3]).name
    for broker_id in BROKERS:
        with session.at(broker_id):
            here = session.quietly(DescribeLogDirsRequest(None), 4).results[0].log_dir
            for path in (here, "/nowhere"):
                dirs = [AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(spread, [0, 1, 2])])]
                label = f"{'where it is' if path == here else path}, at {broker_id}"
                session.ask(label, AlterReplicaLogDirsRequest(dirs))
