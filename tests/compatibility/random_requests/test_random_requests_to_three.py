"""Some random requests to three brokers: those of Apache Kafka and ours answer them alike.

A few in the ordinary run; more with OTTLA_LONG=1.
"""

from __future__ import annotations

import os
import random

import pytest
from tests.compatibility.random_requests.comparison import compare_all, drawn_sequences
from tests.compatibility.random_requests.nodes import both_clusters
from tests.compatibility.random_requests.request_sequence import area_called
from tests.compatibility.random_requests.test_random_requests import SEED_VARIABLE
from tests.support.long_run import VARIABLE as LONG_RUN

pytestmark = [pytest.mark.java, pytest.mark.slow]
SEQUENCES = 200 if os.environ.get(LONG_RUN) else 5


def test_both_clusters_give_equal_answers_to_random_requests() -> None:
    seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().randrange(2**32))
    with both_clusters() as brokers:
        sequences = drawn_sequences(area_called("brokers"), seed, range(SEQUENCES))
        tally = compare_all(sequences, brokers, print)
    reported = "\n".join(map(str, [tally, *tally.found, *tally.transient]))
    assert tally.is_good, f"{SEED_VARIABLE}={seed}\n{reported}"
