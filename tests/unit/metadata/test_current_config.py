"""The broker's configuration as it holds now."""

from __future__ import annotations

import pytest

from ottla.base.scheduling.steps import run_blocking
from ottla.config.load import load_config
from ottla.metadata.current_config import CurrentConfig
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import ALL_BROKERS, ConfigChanged, ConfigResource, ResourceType

OWN = ConfigResource(ResourceType.BROKER, "1")
OTHER = ConfigResource(ResourceType.BROKER, "2")
PER_IP = "max.connections.per.ip"
STATIC_RETENTION_MS = 7 * 24 * 60 * 60 * 1000
STATIC = load_config(settings=["node.id=1", "max.connections.per.ip=100"])


class Settings:
    def __init__(self) -> None:
        self.image = Image()
        self.config = CurrentConfig(STATIC, self.image)
        self.reactions = 0
        self.config.on_broker_change(self.react)

    def react(self) -> None:
        self.reactions += 1

    def set(self, resource: ConfigResource, name: str, text: str | None) -> None:
        records = (ConfigChanged(resource, name, text),)
        changes = self.image.apply(Batch(self.image.offset, 1, records))
        run_blocking(self.config.changed(self.image, changes))

    @property
    def per_ip(self) -> int:
        return self.config.broker.max_connections_per_ip


def test_a_brokers_own_setting_wins_over_that_of_all_and_both_over_the_file() -> None:
    settings = Settings()
    assert settings.per_ip == 100
    settings.set(ALL_BROKERS, PER_IP, "50")
    assert settings.per_ip == 50
    settings.set(OWN, PER_IP, "7")
    settings.set(OTHER, PER_IP, "9")
    assert settings.per_ip == 7
    settings.set(OWN, PER_IP, None)
    assert settings.per_ip == 50
    settings.set(ALL_BROKERS, PER_IP, None)
    assert settings.per_ip == 100


def test_what_was_stored_before_holds_from_the_start() -> None:
    settings = Settings()
    settings.set(ALL_BROKERS, PER_IP, "5")
    assert CurrentConfig(STATIC, settings.image).broker.max_connections_per_ip == 5


@pytest.mark.parametrize(
    ("name", "text"),
    [(PER_IP, "many"), ("no.such.setting", "1"), ("node.id", "8")],
    ids=["no number", "unknown", "fixed at the start"],
)
def test_what_cannot_be_used_is_left_out_and_the_rest_holds(
    name: str, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings()
    settings.set(ALL_BROKERS, "max.connections", "77")
    settings.set(ALL_BROKERS, name, text)
    assert (settings.config.broker.max_connections, settings.per_ip) == (77, 100)
    assert settings.config.broker.node_id == 1
    assert name in caplog.text


def test_only_changes_of_this_broker_are_reacted_to() -> None:
    settings = Settings()
    settings.set(OTHER, PER_IP, "9")
    settings.set(ConfigResource(ResourceType.TOPIC, "t"), "retention.ms", "1")
    assert settings.reactions == 0
    settings.set(OWN, PER_IP, "7")
    settings.set(ALL_BROKERS, PER_IP, "8")
    assert settings.reactions == 2
    assert settings.per_ip == 7


def test_a_topics_setting_wins_over_the_brokers_of_the_same_meaning() -> None:
    settings = Settings()
    settings.set(OWN, "log.retention.ms", "5000")
    topic = ConfigResource(ResourceType.TOPIC, "t")
    assert settings.config.topic("t").retention_ms == 5000
    settings.set(topic, "retention.ms", "7000")
    assert settings.config.topic("t").retention_ms == 7000
    assert settings.config.topic("other").retention_ms == 5000
    settings.set(OWN, "log.retention.ms", None)
    settings.set(topic, "retention.ms", None)
    assert settings.config.topic("t").retention_ms == STATIC_RETENTION_MS
