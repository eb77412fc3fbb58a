"""kafka-configs: of topics, of one broker, of all brokers, of clients; throttles among them."""

from __future__ import annotations

from tests.compatibility.cluster_tools.session import ToolSession

CONFIGS = "kafka.admin.ConfigCommand"
TOPIC = ("--entity-type", "topics", "--entity-name", "configured")
SECOND = ("--entity-type", "brokers", "--entity-name", "2")
ALL_BROKERS = ("--entity-type", "brokers", "--entity-default")
CLIENT = ("--entity-type", "clients", "--entity-name", "reader")
USERS = ("--entity-type", "users", "--entity-default")


def configs(session: ToolSession) -> None:
    def alter(name: str, entity: tuple[str, ...], *arguments: str) -> None:
        session.show(f"alter {name}", CONFIGS, "--alter", *entity, *arguments)

    def describe(name: str, entity: tuple[str, ...]) -> None:
        session.show(f"describe {name}", CONFIGS, "--describe", *entity)

    session.topic("configured", "1:2:3")
    alter("topic", TOPIC, "--add-config", "retention.ms=3600000,cleanup.policy=[compact,delete]")
    throttled = (
        "leader.replication.throttled.replicas=[0:1,0:2],follower.replication.throttled.replicas=*"
    )
    alter("throttled replicas", TOPIC, "--add-config", throttled)
    describe("topic", TOPIC)
    alter(
        "topic back", TOPIC, "--delete-config", "retention.ms,leader.replication.throttled.replicas"
    )
    describe("topic afterwards", TOPIC)
    alter("topic, unknown setting", TOPIC, "--add-config", "no.such.setting=1")
    alter("topic, wrong value", TOPIC, "--add-config", "retention.ms=soon")
    alter(
        "throttled replicas, wrong",
        TOPIC,
        "--add-config",
        "leader.replication.throttled.replicas=[x]",
    )
    rates = "leader.replication.throttled.rate=1000000,follower.replication.throttled.rate=2000000"
    alter("broker", SECOND, "--add-config", rates)
    alter("all brokers", ALL_BROKERS, "--add-config", "log.cleaner.backoff.ms=12345")
    describe("broker", SECOND)
    describe("all brokers", ALL_BROKERS)
    alter("broker, read-only", SECOND, "--add-config", "broker.rack=elsewhere")
    alter("broker that is unknown", ("--entity-type", "brokers", "--entity-name", "9"),
          "--add-config", "log.cleaner.backoff.ms=1")  # fmt: skip
    alter("broker back", SECOND, "--delete-config",
          "leader.replication.throttled.rate,follower.replication.throttled.rate")  # fmt: skip
    alter("all brokers back", ALL_BROKERS, "--delete-config", "log.cleaner.backoff.ms")
    describe("broker afterwards", SECOND)
    describe("all brokers afterwards", ALL_BROKERS)
    alter("client", CLIENT, "--add-config", "consumer_byte_rate=1048576")
    alter("users", USERS, "--add-config", "producer_byte_rate=2097152")
    describe("client", CLIENT)
    describe("users", USERS)
    alter("client back", CLIENT, "--delete-config", "consumer_byte_rate")
    alter("users back", USERS, "--delete-config", "producer_byte_rate")
    describe("client afterwards", CLIENT)
