"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs: topics, brokers, groups and strangers."""

from __future__ import annotations

from collections.abc import Sequence

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.scripts.topics import VALUES
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages import alter_configs_request as legacy
from ottla.protocol.messages import incremental_alter_configs_request as incremental
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
KINDS = (TOPIC, BROKER, LOGGER, METRICS, GROUP, 0, 1, 64, -1)
SET, DELETE, APPEND, SUBTRACT = range(4)
SEVERAL = ["retention.ms", "cleanup.policy", "segment.bytes", "max.message.bytes"]

Resource = tuple[int, str, Sequence[str] | None]


def describe(
    *resources: Resource, synonyms: bool = False, words: bool = False
) -> DescribeConfigsRequest:
    asked = [DescribeConfigsResource(*each) for each in resources]
    return DescribeConfigsRequest(asked, synonyms, words)


@script(ApiKey.DESCRIBE_CONFIGS)
def describe_configs(session: Session) -> None:
    plain = session.topic("plain").name
    chosen = session.topic("chosen", 1, {"retention.ms": "1000", "cleanup.policy": "compact"}).name
    for name, topic in (("plain", plain), ("chosen", chosen)):
        session.ask(f"{name}, all", describe((TOPIC, topic, None)))
        session.ask(f"{name}, all with synonyms", describe((TOPIC, topic, None), synonyms=True))
        session.ask(f"{name}, some", describe((TOPIC, topic, SEVERAL)))
        session.ask(f"{name}, documented", describe((TOPIC, topic, SEVERAL), words=True))
        both = describe((TOPIC, topic, SEVERAL), synonyms=True, words=True)
        session.ask(f"{name}, both", both)
        session.ask(f"{name}, none", describe((TOPIC, topic, [])))
        session.ask(f"{name}, unknown key", describe((TOPIC, topic, ["nonsense", "retention.ms"])))
        session.ask(
            f"{name}, a key twice", describe((TOPIC, topic, ["retention.ms", "retention.ms"]))
        )
    session.ask("unknown topic", describe((TOPIC, session.name("none"), None)))
    for name in ("", ".", "a b", "x" * 250, "__cluster_metadata"):
        session.ask(f"topic {name[:30]!r}", describe((TOPIC, name, ["retention.ms"])))
    for kind in KINDS:
        for name in ("", "1", "2", "x", session.name("g"), "01", "+1", " 1"):
            keys = ["retention.ms", "log.retention.ms", "root", "interval.ms"]
            shown = f"kind {kind}, name {session.names.in_text(name)!r}"
            session.ask(shown, describe((kind, name, keys), synonyms=True))
    broker = ["log.retention.ms", "num.partitions", "message.max.bytes", "node.id", "broker.id"]
    session.ask("broker, some", describe((BROKER, "1", broker), synonyms=True))
    session.ask("broker, documented", describe((BROKER, "1", broker), words=True))
    session.ask("all brokers, some", describe((BROKER, "", broker), synonyms=True))
    session.ask("group, all", describe((GROUP, session.name("g"), None), synonyms=True))
    session.ask("metrics, all", describe((METRICS, session.name("m"), None), synonyms=True))
    session.ask("nothing", describe())
    session.ask("two topics", describe((TOPIC, plain, SEVERAL), (TOPIC, chosen, SEVERAL)))
    session.ask("one twice", describe((TOPIC, plain, SEVERAL), (TOPIC, plain, ["preallocate"])))
    stranger = (TOPIC, session.name("none"), None)
    session.ask("good and bad", describe(stranger, (TOPIC, plain, SEVERAL), (64, "x", None)))


@script(ApiKey.DESCRIBE_CONFIGS, versions=[4])
def describe_broker_configs(session: Session) -> None:
    session.ask("broker, all", describe((BROKER, "1", None), synonyms=True))
    session.ask("all brokers, all", describe((BROKER, "", None), synonyms=True))


Change = tuple[str, int, str | None]


def change(
    *resources: tuple[int, str, Sequence[Change]], dry: bool = False
) -> incremental.IncrementalAlterConfigsRequest:
    asked = [
        incremental.AlterConfigsResource(
            kind, name, [incremental.AlterableConfig(*each) for each in changes]
        )
        for kind, name, changes in resources
    ]
    return incremental.IncrementalAlterConfigsRequest(asked, dry)


@script(ApiKey.INCREMENTAL_ALTER_CONFIGS)
def incremental_alter_configs(session: Session) -> None:
    topic, none = session.topic("t").name, session.name("none")
    for key, values in VALUES.items():
        for value in values:
            request = change((TOPIC, topic, [(key, SET, value)]), dry=True)
            session.ask(f"dry: {key} = {value!r}"[:70], request)

    def ask(label: str, *changes: Change) -> None:
        """And what is set afterwards."""
        session.ask(label, change((TOPIC, topic, changes)))
        session.settle()
        keys = ["retention.ms", "cleanup.policy", "leader.replication.throttled.replicas"]
        session.ask(f"{label}: after", describe((TOPIC, topic, keys), synonyms=True), version=4)

    ask("set", ("retention.ms", SET, "1000"))
    ask("set again", ("retention.ms", SET, "1000"))
    ask("delete", ("retention.ms", DELETE, None))
    ask("delete again", ("retention.ms", DELETE, None))
    ask("delete with a value", ("retention.ms", DELETE, "7"))
    ask("delete unknown", ("nonsense", DELETE, None))
    ask("append to the default", ("cleanup.policy", APPEND, "compact"))
    ask("append again", ("cleanup.policy", APPEND, "compact"))
    ask("subtract", ("cleanup.policy", SUBTRACT, "delete"))
    ask("subtract what is not there", ("cleanup.policy", SUBTRACT, "delete"))
    ask("subtract the last", ("cleanup.policy", SUBTRACT, "compact"))
    ask("append nothing", ("cleanup.policy", APPEND, ""))
    ask("append nonsense", ("cleanup.policy", APPEND, "x"))
    ask("append null", ("cleanup.policy", APPEND, None))
    ask("append to no list", ("retention.ms", APPEND, "5"))
    ask("subtract from no list", ("retention.ms", SUBTRACT, "5"))
    ask("append several", ("leader.replication.throttled.replicas", APPEND, "0:1,1:1"))
    ask("subtract several", ("leader.replication.throttled.replicas", SUBTRACT, "0:1,5:1"))
    ask("set null", ("retention.ms", SET, None))
    for operation in (4, 127, -1):
        ask(f"operation {operation}", ("retention.ms", operation, "1"))
    ask("two", ("retention.ms", SET, "5"), ("cleanup.policy", SET, "compact"))
    ask("good and bad", ("retention.ms", SET, "6"), ("cleanup.policy", SET, "x"))
    ask("a key twice", ("retention.ms", SET, "7"), ("retention.ms", SET, "8"))
    ask("a key set and deleted", ("retention.ms", SET, "7"), ("retention.ms", DELETE, None))
    ask("nothing")
    session.ask("no resources", change())
    session.ask("unknown topic", change((TOPIC, none, [("retention.ms", SET, "1")])))
    session.ask("unknown topic, nothing", change((TOPIC, none, [])))
    for name in ("", ".", "a b", "__cluster_metadata"):
        session.ask(f"topic {name!r}", change((TOPIC, name, [("retention.ms", SET, "1")])))
    one = (TOPIC, topic, [("retention.ms", SET, "1")])
    session.ask("a resource twice", change(one, one))
    session.ask("good and bad resources", change((TOPIC, none, [("retention.ms", SET, "1")]), one))
    for kind in KINDS[1:]:
        for name in ("", "1", "2", "x", "01", " 1"):
            request = change((kind, name, [("nonsense", SET, "1")]), dry=True)
            session.ask(f"kind {kind}, name {name!r}", request)


BROKER_VALUES: dict[str, list[str | None]] = {
    "log.retention.ms": ["1000", "x", None],
    "message.max.bytes": ["1000", "-1"],
    "num.partitions": ["2"],
    "log.cleaner.threads": ["0", "1", "2"],
    "num.io.threads": ["0", "2", "1"],
    "listeners": ["PLAINTEXT://:1"],
    "log.dirs": ["/tmp"],
    "node.id": ["2"],
    "background.threads": ["1", "2", "3", "4", "5", "+3", "TRUE"],
    "max.connections": ["0", "-1", "10"],
    "max.connection.creation.rate": ["0", "1000"],
    "log.flush.interval.ms": ["-1", "0"],
    "max.connections.per.ip.overrides": ["x", "1.2.3.4:5", ""],
    "min.insync.replicas": ["1", "0"],
    "leader.replication.throttled.rate": ["-1", "100"],
    "unclean.leader.election.enable": ["true"],
    "log.segment.bytes": ["1", "1048576"],
    "retention.ms": ["1"],
    "cordoned.log.dirs": ["*", "/x", ""],
    "transaction.state.log.num.partitions": ["1"],
}  # fmt: skip


@script(ApiKey.INCREMENTAL_ALTER_CONFIGS)
def alter_broker_configs(session: Session) -> None:
    for name in ("1", ""):
        for key, values in BROKER_VALUES.items():
            for value in values:
                request = change((BROKER, name, [(key, SET, value)]), dry=True)
                session.ask(f"dry: {key} = {value!r} of {name!r}", request)
    for name in ("", "1"):
        keys = ["background.threads", "log.retention.ms"]
        two = change((BROKER, name, [("background.threads", SET, "3")]))
        session.ask(f"set of {name!r}", two)
        session.settle()
        for asked in ("", "1"):
            after = describe((BROKER, asked, keys), synonyms=True)
            session.ask(f"set of {name!r}: {asked!r} after", after, version=4)
        session.ask(
            f"deleted of {name!r}", change((BROKER, name, [("background.threads", DELETE, None)]))
        )
    spelt = [("log.preallocate", SET, "TRUE"), ("background.threads", SET, " +3 ")]
    session.ask("spelt otherwise", change((BROKER, "1", spelt)))
    session.settle()
    keys = ["background.threads", "log.preallocate"]
    after = describe((BROKER, "1", keys), synonyms=True)
    session.ask("spelt otherwise: after", after, version=4)
    gone = [(key, DELETE, None) for key in keys]
    session.ask("spelt otherwise: deleted", change((BROKER, "1", gone)))
    hidden = [("1", "gzip"), ("", "GZIP")]
    for name, value in hidden:
        request = change((BROKER, name, [("compression.type", SET, value)]))
        session.ask(f"compression.type = {value} of {name!r}", request)
    session.settle()
    session.ask(
        "compression.type of '1' deleted",
        change((BROKER, "1", [("compression.type", DELETE, None)])),
    )
    group = session.name("g")
    for value in ("1000", "45000", "60000", "60001", "0", "x", None):
        key = "consumer.session.timeout.ms"
        request = change((GROUP, group, [(key, SET, value)]), dry=True)
        session.ask(f"dry: {key} = {value!r} of a group", request)
    for value in ("1000", "5000", "15000", "x"):
        key = "consumer.heartbeat.interval.ms"
        request = change((GROUP, group, [(key, SET, value)]), dry=True)
        session.ask(f"dry: {key} = {value!r} of a group", request)
    for key, value in (
        ("metrics", "*"),
        ("interval.ms", "100"),
        ("interval.ms", "1"),
        ("match", "x"),
        ("match", "client_id=a"),
        ("match", "client_id=a=b"),
        ("match", "client_id="),
        ("match", "client_id=a,,client_id=b"),
        ("metrics", "a,,b"),
        ("metrics", ""),
    ):
        request = change((METRICS, session.name("m"), [(key, SET, value)]), dry=True)
        session.ask(f"dry: {key} = {value!r} of metrics", request)
    session.ask(
        "group set", change((GROUP, group, [("consumer.heartbeat.interval.ms", SET, "6000")]))
    )
    session.settle()
    after = describe((GROUP, group, ["consumer.heartbeat.interval.ms"]), synonyms=True)
    session.ask("group set: after", after, version=4)


def replace(
    *resources: tuple[int, str, Sequence[tuple[str, str | None]]], dry: bool = False
) -> legacy.AlterConfigsRequest:
    asked = [
        legacy.AlterConfigsResource(kind, name, [legacy.AlterableConfig(*each) for each in configs])
        for kind, name, configs in resources
    ]
    return legacy.AlterConfigsRequest(asked, dry)


@script(ApiKey.ALTER_CONFIGS)
def alter_configs(session: Session) -> None:
    topic, none = session.topic("t").name, session.name("none")
    for key, values in VALUES.items():
        for value in values:
            request = replace((TOPIC, topic, [(key, value)]), dry=True)
            session.ask(f"dry: {key} = {value!r}"[:70], request)

    def ask(label: str, *configs: tuple[str, str | None]) -> None:
        session.ask(label, replace((TOPIC, topic, configs)))
        session.settle()
        keys = ["retention.ms", "cleanup.policy"]
        session.ask(f"{label}: after", describe((TOPIC, topic, keys), synonyms=True), version=4)

    ask("one", ("retention.ms", "1000"))
    ask("another", ("cleanup.policy", "compact"))
    ask("both", ("retention.ms", "1000"), ("cleanup.policy", "compact"))
    ask("good and bad", ("retention.ms", "2000"), ("cleanup.policy", "x"))
    ask("a key twice", ("retention.ms", "1"), ("retention.ms", "2"))
    ask("null", ("retention.ms", None))
    ask("nothing")
    session.ask("no resources", replace())
    session.ask("unknown topic", replace((TOPIC, none, [("retention.ms", "1")])))
    session.ask("no name", replace((TOPIC, "", [("retention.ms", "1")])))
    one = (TOPIC, topic, [("retention.ms", "1")])
    # A resource twice is not asked: Kafka never answers it.
    session.ask("good and bad resources", replace((TOPIC, none, [("retention.ms", "1")]), one))
    for kind in KINDS[1:]:
        for name in ("", "1", "2", "x"):
            session.ask(
                f"kind {kind}, name {name!r}", replace((kind, name, [("nonsense", "1")]), dry=True)
            )
