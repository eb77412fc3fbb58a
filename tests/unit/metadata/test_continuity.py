"""Which images may follow what a broker has seen: none that is older in any respect."""

from __future__ import annotations

from itertools import product

import pytest

from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import MetadataLost
from ottla.metadata.records import ALL_BROKERS, ClusterNamed, ConfigChanged, Record


def image_of(cluster_id: str, offset: int, epoch: int) -> Image:
    image = Image()
    records: list[Record] = [ConfigChanged(ALL_BROKERS, "x", str(n)) for n in range(offset)]
    if records and cluster_id:
        records[0] = ClusterNamed(cluster_id)
    if records:
        image.apply(Batch(0, epoch, tuple(records)))
    return image


@pytest.mark.parametrize(("cluster_id", "offset", "epoch"), [*product("ab", (1, 2, 3), (1, 2, 3))])
def test_a_log_is_accepted_if_it_has_all_that_was_seen(
    cluster_id: str, offset: int, epoch: int
) -> None:
    known = KnownState("a", 2, 2)
    image = image_of(cluster_id, offset, epoch)
    if cluster_id == "a" and offset >= 2 and epoch >= 2:
        known.check(image, "a place")
    else:
        with pytest.raises(MetadataLost, match="a place"):
            known.check(image, "a place")


def test_a_broker_that_has_seen_nothing_accepts_any_log() -> None:
    for image in (Image(), image_of("a", 1, 1), image_of("b", 3, 7)):
        KnownState().check(image, "a place")


def test_an_empty_log_is_accepted_only_by_a_broker_that_has_seen_nothing() -> None:
    KnownState("a").check(Image(), "a place")
    with pytest.raises(MetadataLost, match="missing or empty"):
        KnownState("a", 1).check(Image(), "a place")
