"""Batches of aiokafka, kafka-python and kio, read here; and ours, read by them."""

from __future__ import annotations

import datetime
import io
import warnings
from collections.abc import Callable, Iterable

import kio.records.readers
import kio.records.schema
import kio.records.writers
import pytest
from aiokafka.record import default_records as aiokafka_records
from aiokafka.record.memory_records import MemoryRecords as AiokafkaRecords
from kio.static.primitive import TZAwareMicros
from tests.unit.protocol.records.cases import NOW_MS, RECORD_SETS

from ottla.protocol.records.batch import has_valid_checksum, read_header
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.checking import ProduceRules, check_produced
from ottla.protocol.records.compression import Codec
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python, while it is loaded
    from kafka.codec import has_lz4, has_snappy, has_zstd
    from kafka.record import MemoryRecords as KafkaPythonRecords
    from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder

Reader = Callable[[bytes], list[Record]]
Builder = Callable[[list[Record], Codec], bytes]

BATCH_BYTES_MAX = 10_000_000
# These two write a timestamp of their own where there is none, and kio knows whole seconds only.
SETS = {name: rows for name, rows in RECORD_SETS.items() if name != "nulls"}
KAFKA_PYTHON_CODECS = {
    Codec.NONE: True, Codec.GZIP: True, Codec.SNAPPY: has_snappy(), Codec.LZ4: has_lz4(),
    Codec.ZSTD: has_zstd(),
}  # fmt: skip


def read_as(records: type, data: bytes) -> list[Record]:
    batches = records(data)
    found = []
    while (batch := batches.next_batch()) is not None:
        assert batch.validate_crc()
        for record in batch:
            headers = tuple((key, value) for key, value in record.headers)
            found.append(Record(record.offset, record.timestamp, record.key, record.value, headers))
    return found


def build_with(builder_class: type, rows: list[Record], codec: Codec) -> bytes:
    builder = builder_class(
        magic=2, compression_type=int(codec), is_transactional=0, producer_id=-1,
        producer_epoch=-1, base_sequence=-1, batch_size=BATCH_BYTES_MAX,
    )  # fmt: skip
    for row in rows:
        assert builder.append(
            row.offset,
            timestamp=row.timestamp,
            key=row.key,
            value=row.value,
            headers=list(row.headers),
        )
    return bytes(builder.build())


def read_with_kio(data: bytes) -> list[Record]:
    batch, size = kio.records.readers.read_batch(data, 0)
    assert size == len(data)
    return [
        Record(
            record.offset,
            int(record.timestamp.timestamp() * 1000),
            record.key,
            record.value,
            tuple((header.key.decode(), header.value) for header in record.headers),
        )
        for record in batch.records
    ]


def build_with_kio(rows: list[Record]) -> bytes:
    records = tuple(
        kio.records.schema.Record(
            attributes=0,
            timestamp=TZAwareMicros.parse(
                datetime.datetime.fromtimestamp(row.timestamp / 1000, datetime.UTC)
            ),
            offset=row.offset,
            key=row.key,
            value=row.value,
            headers=tuple(
                kio.records.schema.RecordHeader(key=key.encode(), value=value)
                for key, value in row.headers
            ),
        )
        for row in rows
    )
    batch = kio.records.schema.NewRecordBatch(
        producer_id=-1, producer_epoch=-1, base_sequence=-1, attributes=0, records=records
    )
    buffer = io.BytesIO()
    kio.records.writers.write_new_batch(buffer, batch)
    return buffer.getvalue()


READERS: dict[str, Reader] = {
    "aiokafka": lambda data: read_as(AiokafkaRecords, data),
    "kafka-python": lambda data: read_as(KafkaPythonRecords, data),
}
BUILDERS: dict[str, Builder] = {
    "aiokafka": lambda rows, codec: build_with(
        aiokafka_records.DefaultRecordBatchBuilder, rows, codec
    ),
    "aiokafka in Python": lambda rows, codec: build_with(
        aiokafka_records._DefaultRecordBatchBuilderPy, rows, codec
    ),
    "kafka-python": lambda rows, codec: build_with(KafkaPythonBuilder, rows, codec),
}


def can(client: str, codec: Codec) -> bool:
    """Whether the client has the library it needs for the codec."""
    return client != "kafka-python" or KAFKA_PYTHON_CODECS[codec]


def with_codecs(clients: Iterable[str]) -> pytest.MarkDecorator:
    pairs = [(client, codec) for client in clients for codec in Codec if can(client, codec)]
    names = [f"{client}-{codec.name.lower()}" for client, codec in pairs]
    return pytest.mark.parametrize(("client", "codec"), pairs, ids=names)


@pytest.mark.parametrize("rows", SETS.values(), ids=SETS.keys())
@with_codecs(READERS)
def test_others_read_what_we_build(client: str, codec: Codec, rows: list[Record]) -> None:
    assert READERS[client](bytes(build_batch(rows, codec=codec))) == rows


@pytest.mark.parametrize("rows", SETS.values(), ids=SETS.keys())
@with_codecs(BUILDERS)
def test_we_read_what_others_build(client: str, codec: Codec, rows: list[Record]) -> None:
    data = BUILDERS[client](rows, codec)
    assert has_valid_checksum(data, 0, read_header(data))
    assert list(iterate_records(data)) == rows


@pytest.mark.parametrize("client", BUILDERS)
def test_uncompressed_batches_are_the_same_bytes(client: str) -> None:
    for rows in SETS.values():
        ours, theirs = build_batch(rows), bytearray(BUILDERS[client](rows, Codec.NONE))
        theirs[12:16] = ours[12:16]  # a leader epoch that clients leave at 0 or -1
        assert theirs == ours


@pytest.mark.parametrize("client", BUILDERS)
def test_their_batches_may_be_produced(client: str) -> None:
    rules = ProduceRules(message_bytes_max=BATCH_BYTES_MAX)
    for rows in SETS.values():
        data = BUILDERS[client](rows, Codec.NONE)
        checked = check_produced(data, rules, produce_version=9, now_ms=NOW_MS)
        assert checked.max_timestamp == max(row.timestamp for row in rows)


def whole_seconds(rows: list[Record]) -> list[Record]:
    return [row._replace(timestamp=row.timestamp // 1000 * 1000) for row in rows]


@pytest.mark.parametrize("rows", SETS.values(), ids=SETS.keys())
def test_kio_reads_what_we_build_and_the_reverse(rows: list[Record]) -> None:
    rows = whole_seconds(rows)
    assert read_with_kio(bytes(build_batch(rows))) == rows
    assert list(iterate_records(build_with_kio(rows))) == rows
