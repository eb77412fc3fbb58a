from __future__ import annotations

import pytest

from ottla.config.layers import ConfigSource
from ottla.config.load import PropertiesFile, load_config
from ottla.config.options import InvalidOption

KRAFT = b"""
# what a single KRaft node has
process.roles=broker,controller
node.id=7
controller.quorum.bootstrap.servers=localhost:9093
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
transaction.state.log.replication.factor=1
log.retention.hours=24
log.segment.bytes=1073741824
"""

ZOOKEEPER = b"""
broker.id=3
listeners=PLAINTEXT://:9092
log.dirs=/a,/b
zookeeper.connect=localhost:2181
zookeeper.connection.timeout.ms=18000
group.initial.rebalance.delay.ms=100
inter.broker.protocol.version=3.9
leader.imbalance.per.broker.percentage=10
"""


def file(content: bytes) -> PropertiesFile:
    return PropertiesFile("server.properties", content)


def test_a_kraft_nodes_file_loads_with_one_notice() -> None:
    loaded = load_config(file(KRAFT))
    assert loaded.config.node_id == 7
    assert [each.name for each in loaded.listeners.bound] == ["PLAINTEXT"]
    assert loaded.config.log_directories == ("/tmp/kraft-combined-logs",)
    (notice,) = loaded.notices
    assert notice == (
        "server.properties: settings of Kafka without effect here: controller.listener.names, "
        "controller.quorum.bootstrap.servers, process.roles, "
        "share.coordinator.state.topic.replication.factor"
    )


def test_a_zookeeper_brokers_file_loads_with_one_notice() -> None:
    loaded = load_config(file(ZOOKEEPER))
    assert (loaded.config.node_id, loaded.config.broker_id) == (3, 3)
    assert loaded.config.log_directories == ("/a", "/b")
    assert loaded.config.group_initial_rebalance_delay_ms == 100
    assert loaded.config.zookeeper_connect == "localhost:2181"
    assert loaded.config.zookeeper_connection_timeout_ms == 18_000
    (notice,) = loaded.notices
    assert notice == (
        "server.properties: settings of Kafka without effect here: inter.broker.protocol.version, "
        "leader.imbalance.per.broker.percentage"
    )


@pytest.mark.parametrize(
    ("in_file", "setting", "name", "value"),
    [
        (b"node.id=1", "broker.id=5", "node_id", 5),
        (b"broker.id=1", "node.id=5", "broker_id", 5),
        (b"node.id=1", "broker.id=-1", "node_id", 1),
        (b"log.dirs=/a", "log.dir=/b", "log_directories", ("/b",)),
        (b"log.dir=/a", "log.dirs=/b", "log_directories", ("/b",)),
        (b"log.dir=/a\nlog.dirs=/b", "num.partitions=1", "log_directories", ("/b",)),
        (b"log.retention.ms=5", "log.retention.hours=1", "log_retention_ms", None),
        (b"log.roll.ms=5", "log.roll.hours=1", "log_roll_ms", None),
    ],
)
def test_a_source_overrides_earlier_ones_under_every_name(
    in_file: bytes, setting: str, name: str, value: object
) -> None:
    assert getattr(load_config(file(in_file), {}, [setting]).config, name) == value


def test_a_member_of_a_cluster_has_kafkas_defaults() -> None:
    config = load_config(settings=["zookeeper.connect=a:2181,b/ottla"]).config
    assert config.is_cluster_member
    assert config.offsets_topic_replication_factor == 3
    assert config.transaction_state_log_min_isr == 2
    assert config.group_initial_rebalance_delay_ms == 3000
    assert not load_config(settings=["zookeeper.connect="]).config.is_cluster_member


@pytest.mark.parametrize(
    "text", ["a:b", ":2181", "a:2181,,b", "a:99999", "a:2181/x//y", "a:2181/../b"]
)
def test_a_wrong_zookeeper_connect_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(InvalidOption, match=r"zookeeper.connect.*(HOST:PORT|/ottla)"):
        load_config(settings=[f"zookeeper.connect={text}"])


@pytest.mark.parametrize("setting", ["zookeeper.ssl.client.enable=true", "zookeeper.set.acl=true"])
def test_protection_of_zookeeper_that_does_not_exist_is_refused(setting: str) -> None:
    with pytest.raises(InvalidOption, match="not supported yet"):
        load_config(settings=[setting])


def test_nothing_given_is_one_broker_with_topics_of_one_replica_and_no_delay() -> None:
    config = load_config().config
    assert config.offsets_topic_replication_factor == 1
    assert config.transaction_state_log_replication_factor == 1
    assert config.transaction_state_log_min_isr == 1
    assert config.group_initial_rebalance_delay_ms == 0
    assert load_config(is_embedded=False).config.offsets_topic_replication_factor == 3


def test_the_command_line_wins_over_the_environment_and_that_over_the_file() -> None:
    content = b"num.partitions=2\nlog.retention.hours=5\nlog.roll.hours=6\n"
    environment = {"OTTLA_NUM_PARTITIONS": "3", "OTTLA_LOG_RETENTION_HOURS": "7"}
    loaded = load_config(file(content), environment, ["num.partitions=4"])
    config = loaded.config
    assert (config.num_partitions, config.log_retention_hours, config.log_roll_hours) == (4, 7, 6)
    assert loaded.layers.static["num.partitions"] == "4"


def test_what_was_given_is_kept_apart_from_defaults() -> None:
    layers = load_config(settings=["compression.type=zstd"]).layers
    assert [(source, texts.get("compression.type")) for texts, source in layers.sourced()] == [
        (ConfigSource.DYNAMIC_BROKER, None),
        (ConfigSource.DYNAMIC_DEFAULT_BROKER, None),
        (ConfigSource.STATIC_BROKER, "zstd"),
        (ConfigSource.DEFAULT, "producer"),
    ]


def test_a_setting_that_kafka_took_out_is_refused_with_its_successor() -> None:
    with pytest.raises(InvalidOption, match=r"port: removed in Kafka 3.0, replaced by listeners"):
        load_config(file(b"port=9093\npassword.encoder.secret=x\n"))


def test_everything_wrong_is_reported_at_once_with_its_place() -> None:
    content = b"log.retention.houres=5\nssl.keystore.location=/x\nnum.partitions=many\n"
    with pytest.raises(InvalidOption) as raised:
        load_config(file(content), {"OTTLA_LOG_SEGMENT_BYTES": "5"}, ["nonsense.key=1"])
    assert str(raised.value).splitlines() == [
        "server.properties: log.retention.houres: no such setting; did you mean "
        "log.retention.hours?",
        "server.properties: ssl.keystore.location: TLS is not supported yet",
        "--set: nonsense.key: no such setting",
        "OTTLA_LOG_SEGMENT_BYTES: Invalid value 5 for configuration log.segment.bytes: Value must "
        "be at least 1048576",
        "server.properties: Invalid value many for configuration num.partitions: Not a number of "
        "type INT",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "sasl.enabled.mechanisms=PLAIN",
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users=User:admin",
        "remote.log.storage.system.enable=true",
        "create.topic.policy.class.name=X",
        "listener.name.internal.ssl.key.password=x",
    ],
)
def test_what_protects_or_asks_for_a_missing_feature_is_never_left_out(line: str) -> None:
    with pytest.raises(InvalidOption, match="is not supported yet"):
        load_config(file(line.encode()))


@pytest.mark.parametrize(
    "line", ["authorizer.class.name=", "remote.log.storage.system.enable=false"]
)
def test_a_feature_that_is_switched_off_is_accepted(line: str) -> None:
    assert "without effect here" in load_config(file(line.encode())).notices[0]


def test_our_variables_that_are_no_settings_are_reported() -> None:
    loaded = load_config(environment={"OTTLA_LISTENER": "x", "PATH": "/bin"})
    assert loaded.notices == (
        "the variable OTTLA_LISTENER is not a setting of a broker, and has no effect; "
        "did you mean OTTLA_LISTENERS?",
    )


def test_both_names_of_the_id_may_be_given_if_they_agree() -> None:
    assert load_config(settings=["broker.id=4", "node.id=4"]).config.node_id == 4
    with pytest.raises(InvalidOption, match=r"broker\.id=4 and node\.id=5 must be equal"):
        load_config(settings=["broker.id=4", "node.id=5"])


def test_a_negative_broker_id_asks_for_any() -> None:
    assert load_config(settings=["broker.id=-1"]).config.node_id == 1


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("log.roll.ms=0", "log.roll.ms must be greater than or equal to 1"),
        ("log.retention.ms=0", "log.retention.ms must be unlimited"),
        ("log.retention.hours=0", "log.retention.ms must be unlimited"),
        ("group.min.session.timeout.ms=9999999", "group.max.session.timeout.ms must be greater"),
        (
            "group.consumer.session.timeout.ms=1",
            "group.consumer.session.timeout.ms must be greater than or equal to "
            "group.consumer.min.session.timeout.ms",
        ),
        (
            "group.consumer.heartbeat.interval.ms=99999",
            "must be less than or equal to group.consum",
        ),
        ("max.connections.per.ip=0", "can be set to zero only if"),
        ("max.connections.per.ip.overrides=host:x", "'host:x' is not host:limit"),
        ("broker.heartbeat.interval.ms=5000", "at most half of broker.session.timeout.ms"),
        ("log.cleaner.threads=0", "at least 1"),
        ("log.cleaner.threads=200", "at least 1MB per cleaner thread"),
        ("log.cleaner.dedupe.buffer.size=0", "at least 1MB per cleaner thread"),
        ("log.cleaner.dedupe.buffer.size=-1", "at least 1MB per cleaner thread"),
        ("offsets.topic.compression.codec=5", "between 0 and 4"),
        ("replica.fetch.wait.max.ms=30001", "replica.socket.timeout.ms should"),
        ("replica.lag.time.max.ms=499", "less than or equal to replica.lag.time.max.ms"),
    ],
)
def test_settings_must_fit_each_other(setting: str, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        load_config(settings=[setting])


@pytest.mark.parametrize("setting", ["novalue", "=5"])
def test_an_argument_must_be_name_and_value(setting: str) -> None:
    with pytest.raises(InvalidOption, match="expected name=value"):
        load_config(settings=[setting])


def test_a_file_with_a_broken_escape_is_named() -> None:
    with pytest.raises(InvalidOption, match=r"server\.properties: line 1"):
        load_config(file(b"broker.rack=\\uZZ\n"))
