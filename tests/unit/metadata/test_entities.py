"""Brokers, topics and partitions: their descriptions and their equality."""

from __future__ import annotations

from typing import Any

from ottla.base.ids import NO_LEADER, TopicId
from ottla.metadata.entities import BrokerRegistration, PartitionRegistration, Topic
from ottla.metadata.features import (
    ELIGIBLE_LEADER_REPLICAS,
    GROUP_VERSION,
    METADATA_VERSION,
    SUPPORTED,
    TRANSACTION_VERSION,
    new_cluster_levels,
)
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import CorruptMetadataError
from ottla.metadata.records import (
    ALL_BROKERS,
    BrokerChanged,
    BrokerRegistered,
    ConfigChanged,
    ConfigResource,
    Endpoint,
    FeatureLevelSet,
    PartitionChanged,
    PartitionCreated,
    ResourceType,
    TopicCreated,
    TopicDeleted,
)

ONE, TWO, NOT_KNOWN = b"1" * 16, b"2" * 16, bytes(16)
TOPIC = TopicId(b"t" * 16)
PLAIN, SECURE = Endpoint("PLAIN", "a", 1, "PLAINTEXT"), Endpoint("SECURE", "b", 2, "SSL")


def broker(**changes: object) -> BrokerRegistration:
    registered = BrokerRegistered(7, 3, ONE, (PLAIN, SECURE), (), "r", False, False, (ONE, TWO))
    image = Image()
    image.apply(Batch(0, 1, (registered,)))
    if changes:
        image.apply(Batch(1, 1, (BrokerChanged(7, 3, **changes),)))  # type: ignore[arg-type]
    found = image.broker(7)
    assert found is not None
    return found


def test_a_directory_works_if_it_is_listed_or_not_known() -> None:
    answers = [broker().has_directory(each) for each in (None, NOT_KNOWN, ONE, TWO, b"3" * 16)]
    assert answers == [True, True, True, True, False]
    assert not broker(log_directories=(TWO,)).has_directory(ONE)
    for at in range(16):  # only one that is zero as a whole says nothing
        with_zero = b"3" * at + b"\0" + b"3" * (15 - at)
        assert not broker().has_directory(with_zero)
        assert not broker().has_directory(bytes(at) + b"3" + bytes(15 - at))


def test_a_broker_is_active_unless_it_is_fenced_or_leaving() -> None:
    assert broker().is_active
    assert not broker(is_fenced=True).is_active
    assert not broker(is_shutting_down=True).is_active
    assert broker(is_fenced=False, is_shutting_down=False).is_active


def test_a_change_leaves_what_it_does_not_name() -> None:
    changed = broker(is_fenced=True)
    assert (changed.is_fenced, changed.is_shutting_down) == (True, False)
    assert changed.log_directories == (ONE, TWO)
    assert changed.to_record() == BrokerRegistered(
        7, 3, ONE, (PLAIN, SECURE), (), "r", True, False, (ONE, TWO)
    )


def test_endpoints_are_found_by_listener() -> None:
    assert broker().endpoint("SECURE") == SECURE
    assert broker().endpoint("OTHER") is None


def test_the_directory_of_each_replica_is_at_its_place() -> None:
    partition = PartitionRegistration((5, 3, 4), (5,), 5, directories=(ONE, TWO, NOT_KNOWN))
    assert [partition.directory_of(each) for each in (5, 3, 4, 9)] == [ONE, TWO, NOT_KNOWN, None]
    assert partition._replace(directories=()).directory_of(5) is None


def test_a_partition_says_who_should_lead_and_whether_it_moves() -> None:
    partition = PartitionRegistration((5, 3), (5, 3), 5)
    assert partition.has_preferred_leader
    assert not partition._replace(leader=3).has_preferred_leader
    assert partition.has_leader
    assert not partition._replace(leader=NO_LEADER).has_leader
    assert not partition.is_reassigning
    assert partition._replace(adding_replicas=(3,)).is_reassigning
    assert partition._replace(removing_replicas=(3,)).is_reassigning


def test_a_changed_partition_keeps_what_is_not_given_and_takes_what_is_even_if_empty() -> None:
    partition = PartitionRegistration((5, 3), (5, 3), 5, 8, 9, adding_replicas=(3,))
    changed = partition.changed(
        PartitionChanged(TOPIC, 0, 10, in_sync_replicas=(), adding_replicas=())
    )
    assert changed == PartitionRegistration((5, 3), (), 5, 8, 10)
    assert PartitionRegistration(*_fields(changed.to_record(TOPIC, 4))) == changed


def _fields(record: PartitionCreated) -> tuple[Any, ...]:
    return tuple(getattr(record, name) for name in PartitionRegistration._fields)


def test_topics_are_equal_by_all_they_are() -> None:
    def topic(topic_id: TopicId = TOPIC, name: str = "t", leader: int = 1) -> Topic:
        made = Topic(topic_id, name)
        made.put(0, PartitionRegistration((1, 2), (1, 2), leader))
        return made

    assert topic() == topic()
    assert hash(topic()) == hash(topic(leader=2))
    others = [topic(leader=2), topic(name="u"), topic(TopicId(b"u" * 16)), "t"]
    assert [topic() == each for each in others] == [False] * 4
    copied = topic().copy()
    assert copied == topic()
    copied.put(1, PartitionRegistration((1,), (1,), 1))
    assert (len(copied.partitions), copied.replication_factor) == (2, 2)
    assert copied != topic()


def test_a_new_cluster_begins_with_the_newest_of_everything_that_it_can_do() -> None:
    """Other brokers and tools read these numbers, so they are written out here."""
    assert {each.name: each.level for each in new_cluster_levels()} == {
        METADATA_VERSION: 30,
        TRANSACTION_VERSION: 2,
        GROUP_VERSION: 1,
        ELIGIBLE_LEADER_REPLICAS: 1,
    }
    assert {name: tuple(versions) for name, versions in SUPPORTED.items()} == {
        METADATA_VERSION: (7, 30),
        TRANSACTION_VERSION: (0, 2),
        GROUP_VERSION: (0, 1),
        ELIGIBLE_LEADER_REPLICAS: (1, 1),
    }


def test_kinds_of_resources_have_kafkas_numbers() -> None:
    assert {each.name: int(each) for each in ResourceType} == {
        "UNKNOWN": 0,
        "TOPIC": 2,
        "BROKER": 4,
        "BROKER_LOGGER": 8,
        "CLIENT_METRICS": 16,
        "GROUP": 32,
    }


def test_settings_are_found_for_a_topic_a_broker_and_all_brokers() -> None:
    image = Image()
    resources = {
        "topic": ConfigResource(ResourceType.TOPIC, "7"),
        "broker": ConfigResource(ResourceType.BROKER, "7"),
        "group": ConfigResource(ResourceType.GROUP, "7"),
        "all": ALL_BROKERS,
    }
    changes = (ConfigChanged(resource, "x", name) for name, resource in resources.items())
    image.apply(Batch(0, 1, tuple(changes)))
    assert image.topic_config("7") == {"x": "topic"}
    assert image.broker_config(7) == {"x": "broker"}
    assert image.broker_config(None) == {"x": "all"}
    assert image.config(resources["group"]) == {"x": "group"}
    assert image.broker_config(8) == image.topic_config("8") == {}


def test_the_size_of_settings_equals_that_of_a_new_image() -> None:
    """Set, replaced, taken back and gone with their topic: what is counted is what is there."""
    image = Image()
    topic, broker_ = (
        ConfigResource(ResourceType.TOPIC, "t"),
        ConfigResource(ResourceType.BROKER, ""),
    )
    metrics = ConfigResource(ResourceType.CLIENT_METRICS, "m")
    image.apply(Batch(0, 1, (TopicCreated(TOPIC, "t"), PartitionCreated(TOPIC, 0, (1,), (1,), 1))))
    steps: list[tuple[ConfigResource, str, str | None]] = [
        (topic, "a", "1"), (topic, "a", "12345"), (topic, "b", ""), (broker_, "a", "99"),
        (metrics, "interval.ms", "5"), (metrics, "match", "x"), (broker_, "a", None),
        (broker_, "a", None), (metrics, "match", None),
    ]  # fmt: skip
    for step in steps:
        image.apply(Batch(image.offset, 1, (ConfigChanged(*step),)))
        again = Image()
        again.load(image.to_records(), image.offset, image.controller_epoch)
        assert again == image
        assert again.config_bytes == image.config_bytes
        assert again.client_metrics_count == image.client_metrics_count
    assert image.client_metrics_count == 1
    image.apply(Batch(image.offset, 1, (TopicDeleted(TOPIC),)))
    image.apply(Batch(image.offset, 1, (ConfigChanged(metrics, "interval.ms", None),)))
    assert (image.config_bytes, image.client_metrics_count) == (0, 0)


def test_images_differ_by_offset_epoch_and_every_record() -> None:
    def image(*records: FeatureLevelSet, epoch: int = 1) -> Image:
        made = Image()
        made.apply(Batch(0, epoch, records))
        return made

    level = FeatureLevelSet("x", 1)
    assert image(level) == image(level)
    assert image(level) != image(level, epoch=2)
    assert image(level) != image(level, level)
    assert image(level) != image(FeatureLevelSet("x", 2))
    assert image(level) != "an image"
    assert image(level).features_epoch == 0
    assert Image().features_epoch == -1


def test_an_unknown_broker_is_not_active() -> None:
    image = Image()
    assert not image.is_active(7)
    image.apply(Batch(0, 1, (broker().to_record(),)))
    assert (image.is_active(7), image.is_active(8)) == (True, False)


def test_damage_is_reported_with_its_position() -> None:
    error = CorruptMetadataError("/m/journal", 77, "no frame begins here")
    assert error.args == ("/m/journal", 77, "no frame begins here")
    assert "/m/journal" in str(error)
