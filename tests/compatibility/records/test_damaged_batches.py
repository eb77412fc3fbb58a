"""Damaged batches whose checksum was made right again, so that only the records show it.

Ours may refuse more than Kafka does (a producer's batch that a strict reader would choke on), and
never less: what we take, Kafka takes too, and reads as the same records.
"""

from __future__ import annotations

import random

import pytest
from tests.compatibility.records.cases import from_java, random_records
from tests.support.oracle import Oracle, Refused
from tests.support.records_oracle import RecordsOracle

from ottla.protocol.errors import InvalidBatch
from ottla.protocol.records.batch import HEADER_BYTES, read_header, stamp_checksum
from ottla.protocol.records.building import assemble, build_batch
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record

pytestmark = pytest.mark.java


def damaged_batch(generator: random.Random, codec: Codec) -> bytearray:
    """Damage in the bytes as they are stored, or in the records before they were compressed."""
    plain = build_batch(random_records(generator))
    header = read_header(plain)._replace(attributes=codec)
    if generator.random() < 0.5:
        damage(generator, plain, HEADER_BYTES)
        return assemble(header, plain[HEADER_BYTES:])
    data = assemble(header, plain[HEADER_BYTES:])
    damage(generator, data, HEADER_BYTES - 4)  # the number of records is damaged too
    stamp_checksum(data, 0, len(data))
    return data


def damage(generator: random.Random, data: bytearray, start: int) -> None:
    for _ in range(generator.randint(1, 3)):
        position = generator.randrange(start, len(data))
        data[position] = generator.choice((0, 1, 0x7F, 0x80, 0xFF, generator.randrange(256)))


def read_or_refuse(data: bytearray) -> list[Record] | None:
    try:
        return list(iterate_records(data))
    except InvalidBatch:
        return None


@pytest.mark.parametrize("codec", Codec, ids=lambda codec: codec.name.lower())
def test_what_we_take_kafka_takes_as_the_same_records(oracle: Oracle, codec: Codec) -> None:
    generator = random.Random(1000 + codec)
    datas = [damaged_batch(generator, codec) for _ in range(400)]
    refusals = 0
    for data, java in zip(datas, RecordsOracle(oracle).read_many(datas), strict=True):
        ours = read_or_refuse(data)
        if ours is None:
            refusals += 1
            continue
        assert not isinstance(java, Refused), f"{java} for {data.hex()}"
        assert ours == [record for batch in java for record in from_java(batch.records)]
    assert refusals > 100
