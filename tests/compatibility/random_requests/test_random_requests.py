"""Some random requests of every area: the answers of Apache Kafka and of our broker are equal."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from tests.compatibility.random_requests.comparison import compare_all, drawn_sequences
from tests.compatibility.random_requests.execution import Brokers
from tests.compatibility.random_requests.nodes import both_brokers
from tests.compatibility.random_requests.request_sequence import area_called

# One worker starts the brokers once.
pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.xdist_group("random-requests")]
SEED_VARIABLE = "OTTLA_RANDOM_SEED"
SEQUENCES = 25
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
def test_both_brokers_give_equal_answers_to_random_requests(name: str, brokers: Brokers) -> None:
    chance = random.SystemRandom().randrange(2**32)
    seed = int(os.environ.get(SEED_VARIABLE) or chance)
    tally = compare_all(drawn_sequences(area_called(name), seed, range(SEQUENCES)), brokers, print)
    reported = "\n".join(map(str, [tally, *tally.found, *tally.transient]))
    assert tally.is_good, f"{SEED_VARIABLE}={seed}\n{reported}"
