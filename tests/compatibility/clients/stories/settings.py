"""Settings of topics and brokers, quotas, features."""

from __future__ import annotations

import itertools
import json

from confluent_kafka import Producer
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)
from tests.compatibility.clients.clients import AIOKAFKA, JAVA, KAFKA_PYTHON, LIBRDKAFKA
from tests.compatibility.clients.cluster import PATIENCE_S, Cluster
from tests.compatibility.clients.foreign.librdkafka import QUIET
from tests.compatibility.clients.stories.telling import Sight, shows
from tests.compatibility.clients.stories.topics import create, topic_settings
from tests.support.waiting import wait_until

from ottla.protocol.api_keys import ApiKey


@shows(
    by=LIBRDKAFKA,
    does=[ApiKey.INCREMENTAL_ALTER_CONFIGS],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.DESCRIBE_CONFIGS],
)
def a_changed_setting_is_reported(on: Cluster) -> Sight:
    create(on, "changed")
    entry = ConfigEntry("retention.ms", "86400000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, "changed", incremental_configs=[entry])
    on.ask_librdkafka(lambda admin: admin.incremental_alter_configs([resource]))
    return lambda: topic_settings(on, "changed")["retention.ms"] == "86400000"


@shows(by=AIOKAFKA, does=[ApiKey.ALTER_CONFIGS], seen_by=JAVA, sees=[ApiKey.DESCRIBE_CONFIGS])
def replaced_settings_are_reported(on: Cluster) -> Sight:
    from aiokafka.admin.config_resource import ConfigResource as AioResource
    from aiokafka.admin.config_resource import ConfigResourceType

    create(on, "replaced")
    resource = AioResource(ConfigResourceType.TOPIC, "replaced", {"cleanup.policy": "compact"})
    on.ask_aiokafka(lambda admin: admin.alter_configs([resource]))
    words = ("--describe", "--entity-type", "topics", "--entity-name", "replaced")
    return lambda: "cleanup.policy=compact" in on.tool("kafka.admin.ConfigCommand", *words).text


@shows(
    by=KAFKA_PYTHON,
    does=[ApiKey.INCREMENTAL_ALTER_CONFIGS],
    seen_by=LIBRDKAFKA,
    sees=[ApiKey.DESCRIBE_CONFIGS],
)
def a_brokers_setting_holds(on: Cluster) -> Sight:
    from kafka.admin import ConfigResource as KafkaPythonResource

    with on.kafka_python_admin() as admin:
        admin.alter_configs([KafkaPythonResource("BROKER", "1", {"log.cleaner.threads": "2"})])

    def holds() -> bool:
        resource = ConfigResource(ResourceType.BROKER, "1")
        (entries,) = on.ask_librdkafka(lambda admin: admin.describe_configs([resource])).values()
        return bool(entries["log.cleaner.threads"].value == "2")

    return holds


@shows(
    by=JAVA,
    does=[ApiKey.INCREMENTAL_ALTER_CONFIGS],
    seen_by=KAFKA_PYTHON,
    sees=[ApiKey.LIST_CONFIG_RESOURCES],
)
def a_metrics_subscription_is_listed(on: Cluster) -> Sight:
    words = ("--name", "listed", "--metrics", "org.apache.kafka.producer.", "--interval", "60000")
    on.tool("ClientMetricsCommand", "--alter", *words)

    def is_listed() -> bool:
        with on.kafka_python_admin() as admin:
            return "listed" in str(admin.list_config_resources(["CLIENT_METRICS"]))

    return is_listed


@shows(
    by=JAVA,
    does=[ApiKey.INCREMENTAL_ALTER_CONFIGS],
    seen_by=LIBRDKAFKA,
    sees=[ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY],
)
def wanted_metrics_are_pushed(on: Cluster) -> Sight:
    words = ("--name", "pushed", "--metrics", "*", "--interval", "100")
    on.tool("ClientMetricsCommand", "--alter", *words, "--match", "client_id=rdkafka-pushing.*")
    looks = itertools.count()

    def are_pushed() -> bool:
        name = f"rdkafka-pushing-{next(looks)}"
        producer = Producer({"bootstrap.servers": on.bootstrap, "client.id": name, **QUIET})
        producer.produce("of-pushing", b"x")
        producer.flush(PATIENCE_S)
        wait_until(lambda: bool(on.tap.versions(ApiKey.PUSH_TELEMETRY, name)), "it pushes metrics")
        return True

    return are_pushed


@shows(
    by=JAVA,
    does=[ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.DESCRIBE_CLIENT_QUOTAS],
    seen_by=LIBRDKAFKA,
    sees=[ApiKey.PRODUCE],
)
def a_quota_slows_its_client_down(on: Cluster) -> Sight:
    entity = ("--entity-type", "clients", "--entity-name", "rdkafka-limited")
    tool, quota = "kafka.admin.ConfigCommand", "producer_byte_rate=500.0"
    on.tool(tool, "--alter", *entity, "--add-config", quota)

    def is_slow() -> bool:
        assert quota in on.tool(tool, "--describe", *entity).text
        throttles: list[int] = []

        def note(text: str) -> None:
            throttles.extend(
                each["throttle"]["max"] for each in json.loads(text)["brokers"].values()
            )

        producer = Producer(
            {
                "bootstrap.servers": on.bootstrap, "client.id": "rdkafka-limited",
                "statistics.interval.ms": 50, "stats_cb": note, **QUIET,
            }
        )  # fmt: skip
        producer.produce("limited", b"x" * 5_200)
        producer.flush(PATIENCE_S)
        wait_until(
            lambda: producer.poll(0.05) >= 0 and any(throttles),
            "a response contains a throttle time",
        )
        return True

    return is_slow


@shows(
    by=JAVA,
    does=[ApiKey.ALTER_CLIENT_QUOTAS, ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS],
    seen_by=LIBRDKAFKA,
    sees=[ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS],
)
def a_user_has_a_quota_and_no_password(on: Cluster) -> Sight:
    entity = ("--entity-type", "users", "--entity-name", "limited")
    tool, quota = "kafka.admin.ConfigCommand", "consumer_byte_rate=500.0"
    on.tool(tool, "--alter", *entity, "--add-config", quota)

    def is_reported() -> bool:
        assert quota in on.tool(tool, "--describe", *entity).text
        with on.librdkafka_admin() as admin:
            known: dict[str, object] = admin.describe_user_scram_credentials().result(PATIENCE_S)
        return known == {}

    return is_reported


@shows(by=KAFKA_PYTHON, does=[ApiKey.UPDATE_FEATURES], seen_by=JAVA, sees=[ApiKey.API_VERSIONS])
def a_lowered_feature_level_is_reported(on: Cluster) -> Sight:
    with on.kafka_python_admin() as admin:
        admin.update_features({"group.version": ("SAFE_DOWNGRADE", 0)})
        admin.update_features({"group.version": ("UPGRADE", 1)})
        admin.update_features({"transaction.version": ("SAFE_DOWNGRADE", 1)})

    def is_reported() -> bool:
        lines = on.tool("FeatureCommand", "describe").text.splitlines()
        (line,) = (each for each in lines if "transaction.version" in each)
        return "FinalizedVersionLevel: 1" in line

    return is_reported
