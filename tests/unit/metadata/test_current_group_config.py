"""The settings of groups: their own within the broker's limits, or the broker's."""

from __future__ import annotations

from random import Random

import pytest

from ottla.base.scheduling.steps import run_blocking
from ottla.config.load import load_config
from ottla.metadata.current_config import CurrentConfig
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import ALL_BROKERS, ConfigChanged, ConfigResource, Record, ResourceType

GROUP = ConfigResource(ResourceType.GROUP, "readers")
HEARTBEAT = "consumer.heartbeat.interval.ms"


class Settings:
    def __init__(self, *given: str) -> None:
        self.image = Image()
        self.static = load_config(settings=given)
        self.settings = CurrentConfig(self.static, self.image)

    def change(self, *records: Record) -> None:
        changes = self.image.apply(Batch(self.image.offset, 1, records))
        run_blocking(self.settings.changed(self.image, changes))

    def heartbeat_ms(self, group_id: str) -> int:
        return self.settings.group(group_id).consumer_heartbeat_interval_ms


def test_a_group_without_settings_has_the_brokers() -> None:
    settings = Settings("group.consumer.heartbeat.interval.ms=7000")
    assert settings.heartbeat_ms("readers") == 7000


def test_a_groups_own_setting_wins_and_goes_again() -> None:
    settings = Settings()
    assert settings.heartbeat_ms("readers") == 5000
    settings.change(ConfigChanged(GROUP, HEARTBEAT, "9000"))
    assert (settings.heartbeat_ms("readers"), settings.heartbeat_ms("others")) == (9000, 5000)
    settings.change(ConfigChanged(GROUP, HEARTBEAT, None))
    assert settings.heartbeat_ms("readers") == 5000


def test_a_setting_out_of_the_brokers_limits_is_brought_into_them() -> None:
    settings = Settings()
    settings.change(ConfigChanged(GROUP, HEARTBEAT, "1"))
    assert settings.heartbeat_ms("readers") == 5000
    settings.change(ConfigChanged(GROUP, HEARTBEAT, "999999"))
    assert settings.heartbeat_ms("readers") == 15_000


def test_what_is_set_for_all_brokers_while_they_run_counts() -> None:
    settings = Settings()
    assert settings.settings.group("readers").consumer_assignment_interval_ms == 1000
    name = "group.consumer.assignment.interval.ms"
    settings.change(ConfigChanged(ALL_BROKERS, name, "200"))
    assert settings.settings.group("readers").consumer_assignment_interval_ms == 200


BROKER = ConfigResource(ResourceType.BROKER, "1")
NAMES = {
    ALL_BROKERS: ["group.consumer.assignment.interval.ms", "log.retention.ms"],
    BROKER: ["log.retention.ms", "log.cleaner.threads"],
    GROUP: [HEARTBEAT, "consumer.assignment.interval.ms", "consumer.session.timeout.ms"],
    ConfigResource(ResourceType.GROUP, "others"): [HEARTBEAT],
    ConfigResource(ResourceType.TOPIC, "t"): ["retention.ms"],
}


@pytest.mark.parametrize("seed", range(5))
def test_what_is_kept_is_what_a_broker_that_starts_now_would_find(seed: int) -> None:
    random = Random(seed)
    settings = Settings("node.id=1")
    for _ in range(40):
        resource = random.choice(list(NAMES))
        name = random.choice(NAMES[resource])
        value = random.choice([None, "2", "700", "8000", "50000"])
        settings.change(ConfigChanged(resource, name, value))
        kept, loaded = settings.settings, CurrentConfig(settings.static, settings.image)
        assert kept.broker == loaded.broker
        assert kept.topic("t") == loaded.topic("t")
        for group_id in ("readers", "others", "nobody"):
            assert kept.group(group_id) == loaded.group(group_id)
