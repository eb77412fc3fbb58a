"""The broker's configuration as it holds now."""

from __future__ import annotations

import pytest

from ottla.broker.effective_config import EffectiveConfig
from ottla.config.broker_options import BrokerConfig
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import ALL_BROKERS, ConfigChanged, ConfigResource, ResourceType

OWN = ConfigResource(ResourceType.BROKER, "1")
OTHER = ConfigResource(ResourceType.BROKER, "2")
PER_IP = "max.connections.per.ip"
STATIC = BrokerConfig(node_id=1, max_connections_per_ip=100)


class Settings:
    def __init__(self) -> None:
        self.image = Image()
        self.config = EffectiveConfig(1, STATIC, self.image)

    def set(self, resource: ConfigResource, name: str, text: str | None) -> None:
        records = (ConfigChanged(resource, name, text),)
        changes = self.image.apply(Batch(self.image.offset, 1, records))
        self.config.changed(self.image, changes)

    @property
    def per_ip(self) -> int:
        return self.config().max_connections_per_ip


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
    assert EffectiveConfig(1, STATIC, settings.image)().max_connections_per_ip == 5


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
    assert (settings.config().max_connections, settings.per_ip) == (77, 100)
    assert settings.config().node_id == 1
    assert name in caplog.text
