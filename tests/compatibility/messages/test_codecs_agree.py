"""Every message, every version, both directions: other people's codecs make the same bytes.

`docs/reference/codec-agreement.md` shows the cells that each codec covers.
"""

from __future__ import annotations

import pytest
from tests.support.message_values import all_messages, message_named
from tools.oracles.codec import ForeignCodec
from tools.oracles.comparison import Disagreement, compare
from tools.oracles.kafka_codec import KafkaCodec
from tools.oracles.kafka_python_codec import KafkaPythonCodec
from tools.oracles.kio_codec import KioCodec
from tools.oracles.table import read_table

NAMES = [message.name for message in all_messages()]
RANDOM_VALUES = 12  # of each message in each version, besides the edge cases


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    """Of a module: pytest then runs the tests of one message next to each other, and the values
    are drawn once for all codecs."""
    return str(request.param)


def check(name: str, codec: ForeignCodec, seed: int) -> None:
    message = message_named(name)
    versions = [version for version in message.versions if codec.has(message, version)]
    found = compare(message, versions, codec, seed, RANDOM_VALUES)
    assert not found, reported(found, codec, seed)


def reported(found: list[Disagreement], codec: ForeignCodec, seed: int) -> str:
    smallest = min((str(each) for each in found), key=len)
    return f"{len(found)} values differ from {codec.name} (OTTLA_SEED={seed})\n{smallest}"


@pytest.mark.java
def test_apache_kafka_makes_and_takes_the_same_bytes(
    name: str, kafka: KafkaCodec, seed: int
) -> None:
    check(name, kafka, seed)


def test_kio_makes_and_takes_the_same_bytes(name: str, seed: int) -> None:
    check(name, KioCodec(), seed)


def test_kafka_python_makes_and_takes_the_same_bytes(name: str, seed: int) -> None:
    check(name, KafkaPythonCodec(), seed)


@pytest.mark.parametrize("codec", [KioCodec(), KafkaPythonCodec()], ids=lambda codec: codec.name)
def test_no_cell_of_the_table_went_unchecked(codec: ForeignCodec) -> None:
    """Else a codec that is no longer found would pass every comparison."""
    for row in read_table():
        message = message_named(row.message)
        claimed = [v for v, letters in row.encoded.items() if codec.letter in letters]
        assert [v for v in claimed if not codec.has(message, v)] == [], row.message
