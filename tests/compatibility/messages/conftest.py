"""One seed for all comparisons of a run; a failure names it, and OTTLA_SEED repeats it."""

from __future__ import annotations

import os
import random

import pytest
from tests.support.oracle import Oracle
from tools.oracles.kafka_codec import KafkaCodec


@pytest.fixture(scope="session")
def seed() -> int:
    return int(os.environ.get("OTTLA_SEED") or random.SystemRandom().randrange(2**32))


@pytest.fixture(scope="session")
def kafka(oracle: Oracle) -> KafkaCodec:
    return KafkaCodec(oracle)
