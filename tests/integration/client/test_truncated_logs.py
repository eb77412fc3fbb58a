"""An unclean election: a replica without the newest records becomes the leader."""

from __future__ import annotations

import pytest
from tests.integration.client.helpers import read_with_librdkafka, values_of
from tests.integration.client.three_brokers import UNCLEAN, ThreeBrokers

from ottla.base.ids import TopicPartition
from ottla.base.uuids import ZERO_UUID
from ottla.client.admin.leader_epochs import epoch_ends
from ottla.client.admin.list_offsets import LATEST, list_offsets
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import LogTruncated
from ottla.client.fetching.fetcher import Fetcher, PartitionRange, fetch_ranges

pytestmark = pytest.mark.ci

KEPT = [b"kept %d" % number for number in range(10)]
LOST = [b"lost %d" % number for number in range(10)]
INSTEAD = [b"instead %d" % number for number in range(15)]  # more: the end alone shows nothing


def planned(client: Cluster, place: TopicPartition) -> PartitionRange:
    """All of the log, as a query would plan it now."""
    found = list_offsets(client, {place: LATEST})[place]
    topic_id = client.describe_topics([place.topic])[place.topic].topic_id
    return PartitionRange(place, 0, found.offset, topic_id, found.leader_epoch)


def read(fetcher: Fetcher, count: int) -> list[bytes | None]:
    found: list[bytes | None] = []
    while len(found) < count:
        if (fetched := fetcher.poll(60)) is not None:
            found += [value for _, value in values_of(fetched)]
    return found


def test_a_log_that_lost_records_is_distinguished_from_one_that_grew(three: ThreeBrokers) -> None:
    topic = three.topic([[2, 3]], **UNCLEAN)
    place = TopicPartition(topic, 0)
    three.produce(topic, KEPT)
    with three.client() as client, Fetcher(client, [PartitionRange(place, 0)]) as reader:
        before = planned(client, place)
        assert (before.end_offset, before.end_epoch) == (10, 0)
        three.kill(3)
        three.wait_in_sync(topic, [2])
        three.produce(topic, LOST)
        assert read(reader, 20) == KEPT + LOST
        with three.client() as other:
            after = planned(other, place)
        assert (after.end_offset, after.end_epoch) == (20, 0)
        three.kill(2)
        three.start(3)
        three.wait_led_by(topic, 3)
        three.produce(topic, INSTEAD)
        reported = rf"{topic}-0 at offset 20: .*records from 10 up to 20 .*leader epoch 0"
        with pytest.raises(LogTruncated, match=reported):
            read(reader, 1)
    three.start(2)
    three.wait_in_sync(topic, [2, 3])
    assert read_with_librdkafka(three.bootstrap_servers, place) == list(enumerate(KEPT + INSTEAD))
    with three.client() as client:
        with pytest.raises(LogTruncated, match="from 10 up to 20"):
            list(fetch_ranges(client, [after]))
        kept = [each for fetched in fetch_ranges(client, [before]) for each in values_of(fetched)]
        assert kept == list(enumerate(KEPT))
        (end,) = epoch_ends(client, {place: before.end_epoch}).values()
        assert (end.leader_epoch, end.end_offset) == (0, 10)
        unplanned = PartitionRange(place, 0, 25, ZERO_UUID)
        assert sum(len(list(values_of(each))) for each in fetch_ranges(client, [unplanned])) == 25
