from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.metadata.histories import histories

from ottla.base.ids import TopicId
from ottla.base.topic_deletion import TopicDeletion
from ottla.metadata.changes import Changes
from ottla.metadata.image import Batch, Image
from ottla.metadata.image_diff import changes_between
from ottla.metadata.records import (
    ALL_BROKERS,
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    ConfigChanged,
    ConfigResource,
    FeatureLevelSet,
    PartitionChanged,
    PartitionCreated,
    ProducerIdsAllocated,
    QuotaChanged,
    Record,
    ResourceType,
    TopicCreated,
    TopicDeleted,
)
from ottla.metadata.topic_table import DELETED_MAX, ImageError

ID, OTHER_ID = TopicId(b"1" * 16), TopicId(b"2" * 16)
TOPIC = (TopicCreated(ID, "t"), PartitionCreated(ID, 0, (1, 2), (1, 2), 1))


def apply(image: Image, *records: Record) -> Changes:
    return image.apply(Batch(image.offset, 1, records))


def image_of(*records: Record) -> Image:
    image = Image()
    apply(image, *records)
    return image


def test_a_topic_is_found_by_its_name_and_by_its_id() -> None:
    image = image_of(*TOPIC)
    topic = image.topic("t")
    assert topic is not None
    assert topic is image.topic_by_id(ID)
    assert image.partition("t", 0) == topic.partitions[0]
    assert image.partition("t", 1) is image.partition("t", -1) is image.partition("u", 0) is None


def test_the_offset_counts_records() -> None:
    image = image_of(*TOPIC)
    assert (image.offset, image.features_epoch, image.partition_count) == (2, 1, 1)


def test_a_partition_is_never_modified() -> None:
    image = image_of(*TOPIC)
    held = image.partition("t", 0)
    apply(image, PartitionChanged(ID, 0, 1, leader=2, leader_epoch=1, in_sync_replicas=(2,)))
    assert held is not None
    assert held.leader == 1
    now = image.partition("t", 0)
    assert now is not None
    assert (now.leader, now.leader_epoch, now.partition_epoch, now.in_sync_replicas) == (
        2,
        1,
        1,
        (2,),
    )
    assert now.replicas == (1, 2)


def test_deleting_a_topic_takes_its_partitions_and_settings_along() -> None:
    resource = ConfigResource(ResourceType.TOPIC, "t")
    image = image_of(*TOPIC, ConfigChanged(resource, "retention.ms", "5"))
    changes = apply(image, TopicDeleted(ID))
    assert (image.topics, image.partition_count, image.config(resource)) == ({}, 0, {})
    assert list(changes.deleted_topics) == [ID]
    assert changes.partitions[ID, 0].after is None
    assert changes.configs == {resource}


def test_a_deleted_topic_is_remembered_by_its_id_also_in_snapshots() -> None:
    image = image_of(*TOPIC)
    assert image.deletion_of(ID) is None
    apply(image, TopicDeleted(ID), TopicCreated(OTHER_ID, "t"))
    again = Image()
    again.load(image.to_records(), image.offset, image.controller_epoch)
    for each in (image, image.copy(), again):
        assert each.deletion_of(ID) == TopicDeletion(ID)
        assert each.deletion_of(OTHER_ID) is None
    assert again == image


def test_of_deleted_topics_the_last_ten_thousand_are_remembered() -> None:
    assert DELETED_MAX == 10_000
    image = Image()
    ids = [TopicId(number.to_bytes(16, "big")) for number in range(DELETED_MAX + 5)]
    for number, topic_id in enumerate(ids):
        apply(image, TopicCreated(topic_id, f"t{number}"), TopicDeleted(topic_id))
    assert [image.deletion_of(each) for each in ids[:5]] == [None] * 5
    assert image.deletion_of(ids[5]) is not None
    assert image.deletion_of(ids[-1]) is not None


def test_names_that_differ_in_dots_and_underscores_collide_until_they_are_gone() -> None:
    image = image_of(TopicCreated(ID, "a.b"))
    assert image.colliding_topic("a_b") == "a.b"
    assert image.colliding_topic("a-b") is None
    apply(image, TopicDeleted(ID))
    assert image.colliding_topic("a_b") is None


def test_a_broker_that_registers_again_replaces_its_old_self() -> None:
    image = image_of(BrokerRegistered(1, 5, bytes(16), (), rack="r", is_fenced=False))
    assert image.is_active(1)
    apply(image, BrokerRegistered(1, 9, bytes(16), ()))
    broker = image.broker(1)
    assert broker is not None
    assert (broker.epoch, broker.rack, image.is_active(1)) == (9, None, False)
    apply(image, BrokerChanged(1, 9, is_fenced=False))
    assert image.is_active(1)
    apply(image, BrokerChanged(1, 9, is_shutting_down=True))
    assert not image.is_active(1)
    apply(image, BrokerUnregistered(1, 9))
    assert image.broker(1) is None


def test_a_setting_or_quota_that_is_taken_away_leaves_nothing_behind() -> None:
    entity = (("user", "u"),)
    image = image_of(ConfigChanged(ALL_BROKERS, "a", "1"), QuotaChanged(entity, "k", 2.0))
    assert image.broker_config(None) == {"a": "1"}
    assert image.quotas == {entity: {"k": 2.0}}
    apply(image, ConfigChanged(ALL_BROKERS, "a", None), QuotaChanged(entity, "k", None))
    assert (image.configs, image.quotas) == ({}, {})


def test_a_mapping_of_settings_is_never_modified() -> None:
    image = image_of(ConfigChanged(ALL_BROKERS, "a", "1"))
    held = image.broker_config(None)
    apply(image, ConfigChanged(ALL_BROKERS, "a", "2"), ConfigChanged(ALL_BROKERS, "b", "3"))
    assert (held, image.broker_config(None)) == ({"a": "1"}, {"a": "2", "b": "3"})


def test_a_feature_at_level_zero_is_gone() -> None:
    image = image_of(FeatureLevelSet("f", 2))
    assert image.features == {"f": 2}
    apply(image, FeatureLevelSet("f", 0))
    assert image.features == {}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (TopicCreated(OTHER_ID, "t"), "topic t is there already"),
        (TopicCreated(ID, "u"), "topic u is there already"),
        (TopicDeleted(OTHER_ID), "there is no topic with id"),
        (PartitionCreated(ID, 2, (1,), (1,), 1), "partition 2 of t is not the next: it has 1"),
        (PartitionCreated(OTHER_ID, 0, (1,), (1,), 1), "there is no topic with id"),
        (PartitionChanged(ID, 1, 1), "t has no partition 1"),
        (PartitionChanged(ID, 0, 2), "partition epoch 2 does not follow 0"),
        (PartitionChanged(ID, 0, 1, leader=1, leader_epoch=0), "leader epoch 0 does not follow 0"),
        (BrokerChanged(1, 4), "broker 1 is not registered with epoch 4"),
        (BrokerUnregistered(2, 5), "broker 2 is not registered with epoch 5"),
        (ProducerIdsAllocated(1, 5, 99), "producer ids go back to 99"),
    ],
)
def test_a_record_that_does_not_follow_is_refused(record: Record, message: str) -> None:
    image = image_of(
        *TOPIC, BrokerRegistered(1, 5, bytes(16), ()), ProducerIdsAllocated(1, 5, 1000)
    )
    with pytest.raises(ImageError) as raised:
        apply(image, record)
    assert message in str(raised.value)


def test_a_batch_that_is_not_the_next_is_refused() -> None:
    with pytest.raises(ImageError, match="batch at offset 3, but 0 comes next"):
        Image().apply(Batch(3, 1, TOPIC))


def test_changes_name_what_changed_and_nothing_else() -> None:
    image = image_of(*TOPIC, BrokerRegistered(1, 5, bytes(16), ()))
    changes = apply(image, PartitionChanged(ID, 0, 1, leader=2, leader_epoch=1))
    change = changes.partitions[ID, 0]
    assert change.before is not None
    assert change.after is not None
    assert (change.topic.name, change.before.leader, change.after.leader) == ("t", 1, 2)
    assert (changes.brokers, changes.configs, changes.created_topics) == (set(), set(), {})
    assert not changes.is_empty


def test_several_changes_of_one_batch_are_merged() -> None:
    image = image_of(*TOPIC)
    changes = apply(
        image,
        PartitionChanged(ID, 0, 1, in_sync_replicas=(1,)),
        PartitionChanged(ID, 0, 2, in_sync_replicas=(1, 2)),
    )
    change = changes.partitions[ID, 0]
    assert change.before is not None
    assert change.after is not None
    assert (change.before.partition_epoch, change.after.partition_epoch) == (0, 2)


def test_partitions_that_differ_in_one_field_keep_it_though_their_changes_are_equal() -> None:
    """Equal changes of equal partitions share a registration."""
    image = image_of(*TOPIC, PartitionCreated(ID, 1, (1, 2), (1, 2), 1))
    apply(
        image,
        PartitionChanged(ID, 0, 1, leader=1, leader_epoch=7),
        PartitionChanged(ID, 1, 1, last_known_leader=2),
    )
    apply(
        image,
        PartitionChanged(ID, 0, 2, in_sync_replicas=(1,)),
        PartitionChanged(ID, 1, 2, in_sync_replicas=(1,)),
    )
    first, second = image.partition("t", 0), image.partition("t", 1)
    assert first is not None
    assert second is not None
    assert (first.leader_epoch, first.last_known_leader) == (7, -1)
    assert (second.leader_epoch, second.last_known_leader) == (0, 2)


def test_a_topic_that_comes_and_goes_in_one_batch_was_never_there() -> None:
    assert apply(Image(), *TOPIC, TopicDeleted(ID)).is_empty


def test_equal_replicas_are_one_object() -> None:
    image = image_of(
        TopicCreated(ID, "t"),
        *(PartitionCreated(ID, n, tuple(range(2)), tuple(range(2)), 1) for n in range(3)),
    )
    topic = image.topic("t")
    assert topic is not None
    assert len({id(p.replicas) for p in topic.partitions} | {id(topic.partitions[0][1])}) == 1


@given(st.integers(0, 2**32))
def test_an_image_made_from_its_own_records_is_the_same(seed: int) -> None:
    image = Image()
    for batch in histories(Random(seed), 15):
        image.apply(batch)
    again = Image()
    again.load(image.to_records(), image.offset, image.controller_epoch)
    assert again == image
    assert again.partition_count == image.partition_count
    assert all(again.colliding_topic(n) == image.colliding_topic(n) for n in ("a", "x.y"))


@given(st.integers(0, 2**32))
def test_a_copy_goes_its_own_way(seed: int) -> None:
    image = Image()
    batches = list(histories(Random(seed), 15))
    for batch in batches[:8]:
        image.apply(batch)
    copy = image.copy()
    before = list(image.to_records())
    for batch in batches[8:]:
        copy.apply(batch)
    assert list(image.to_records()) == before
    for batch in batches[8:]:
        image.apply(batch)
    assert copy == image


@given(st.integers(0, 2**32))
def test_the_difference_of_two_images_is_what_the_batches_between_them_changed(seed: int) -> None:
    batches = list(histories(Random(seed), 15))
    old, new = Image(), Image()
    for batch in batches[:8]:
        old.apply(batch)
        new.apply(batch)
    reported = Changes()
    for batch in batches[8:]:
        changes = new.apply(batch)
        reported.brokers |= changes.brokers
        reported.configs |= changes.configs
        reported.partitions.update(changes.partitions)
    difference = changes_between(old, new)
    assert difference.partitions.keys() <= reported.partitions.keys()
    assert difference.brokers <= reported.brokers
    assert difference.configs <= reported.configs
    assert set(difference.created_topics) == {
        t.id for t in new.topics.values() if old.topic_by_id(t.id) is None
    }
    assert set(difference.deleted_topics) == {
        t.id for t in old.topics.values() if new.topic_by_id(t.id) is None
    }
    for (topic_id, index), change in difference.partitions.items():
        topic = new.topic_by_id(topic_id)
        assert change.after == (topic.partitions[index] if topic is not None else None)


def test_images_without_a_difference_have_no_changes() -> None:
    assert changes_between(image_of(*TOPIC), image_of(*TOPIC)).is_empty
