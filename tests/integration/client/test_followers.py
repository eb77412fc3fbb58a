"""Reading from the replica in the client's rack (KIP-392).

Where records come from is shown by what each broker's process has written, as the kernel counts it.
"""

from __future__ import annotations

import pytest
from tests.integration.client.helpers import values_of
from tests.integration.client.three_brokers import IDS, ThreeBrokers, rack_of
from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.fetching.fetcher import fetch_range

pytestmark = pytest.mark.ci

VALUES = [b"%06d" % number * 500 for number in range(1000)]  # 3 MB
ALL_BYTES = sum(map(len, VALUES))
FEW_BYTES = ALL_BYTES // 5  # what brokers say to each other
EXPECTED = list(enumerate(VALUES))


@pytest.fixture
def place(three: ThreeBrokers) -> TopicPartition:
    topic = three.topic([[2, 3, 1]])
    three.produce(topic, VALUES)
    wait_until_quiet(three)
    return TopicPartition(topic, 0)


def wait_until_quiet(three: ThreeBrokers) -> None:
    """Followers have copied everything, and are notified of the high watermark."""
    seen: list[list[int]] = []

    def is_quiet() -> bool:
        seen.append([three.written_bytes(each) for each in IDS])
        return len(seen) > 10 and sum(seen[-1]) - sum(seen[-10]) < FEW_BYTES // 10

    wait_until(is_quiet, "nothing is copied")


@pytest.mark.parametrize("near", IDS)
def test_records_come_from_the_rack(three: ThreeBrokers, place: TopicPartition, near: int) -> None:
    before = {each: three.written_bytes(each) for each in IDS}
    with three.client(client_rack=rack_of(near), fetch_max_bytes=300_000) as client:
        found = [
            each
            for fetched in fetch_range(client, place, 0, len(VALUES))
            for each in values_of(fetched)
        ]
    assert found == EXPECTED
    sent = {each: three.written_bytes(each) - before[each] for each in IDS}
    assert sent[near] > ALL_BYTES
    assert all(sent[each] < FEW_BYTES for each in IDS if each != near), sent


def test_a_reader_returns_to_the_leader_when_its_follower_is_killed(
    three: ThreeBrokers, place: TopicPartition
) -> None:
    """And when the leader is killed that it returned to."""
    found: list[object] = []
    before = three.written_bytes(3)
    with three.client(client_rack=rack_of(3), fetch_max_bytes=30_000) as client:
        for count, fetched in enumerate(fetch_range(client, place, 0, len(VALUES))):
            found += values_of(fetched)
            if count == 10:
                assert three.written_bytes(3) - before > 10 * 30_000 * 0.8, "it is read"
                three.kill(3)
            if count == 40:
                three.start(3)
                three.wait_in_sync(place.topic, IDS)
                three.kill(2)
    assert count > 40, "both were killed in the middle"
    assert found == EXPECTED


def test_a_reader_of_an_unknown_rack_stays_with_the_leader(
    three: ThreeBrokers, place: TopicPartition
) -> None:
    before = three.written_bytes(2)
    with three.client(client_rack="elsewhere") as client:
        fetched = list(fetch_range(client, place, 0, len(VALUES)))
    assert [each for answer in fetched for each in values_of(answer)] == EXPECTED
    assert three.written_bytes(2) - before > ALL_BYTES
