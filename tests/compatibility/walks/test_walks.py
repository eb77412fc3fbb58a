"""Some walks of every area, drawn by chance: Apache Kafka and our broker answer them alike."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from tests.compatibility.walks.nodes import both_brokers
from tests.compatibility.walks.playing import Brokers
from tests.compatibility.walks.walk import area_called
from tests.compatibility.walks.walking import drawn_walks, walk_all

# One worker starts the brokers once.
pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.xdist_group("walks")]
SEED_VARIABLE = "OTTLA_WALKS_SEED"
WALKS = 25
AREAS = (
    "groups",
    "groups_mixed",
    "groups_topics",
    "groups_transactions",
    "log",
    "transactions",
    "admin",
)


@pytest.fixture(scope="module")
def brokers() -> Iterator[Brokers]:
    with both_brokers() as addresses:
        yield addresses


@pytest.mark.parametrize("name", AREAS)
def test_walks_go_the_same_way_on_both_brokers(name: str, brokers: Brokers) -> None:
    chance = random.SystemRandom().randrange(2**32)
    seed = int(os.environ.get(SEED_VARIABLE) or chance)
    tally = walk_all(drawn_walks(area_called(name), seed, range(WALKS)), brokers, print)
    told = "\n".join(map(str, [tally, *tally.found, *tally.passing]))
    assert tally.is_good, f"{SEED_VARIABLE}={seed}\n{told}"
