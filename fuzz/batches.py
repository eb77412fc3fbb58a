"""Fuzzes everything that opens a record batch: header, checks, codecs, records, indexes, tables.

    python fuzz/batches.py -runs=1000000           coverage-guided, needs the extra `fuzz`
    python fuzz/batches.py --write-corpus          renews the inputs in fuzz/corpus/batches

The first byte of an input says what the others are: a whole batch, a header with compressed
records, or a header with records that are compressed here. The last two get a checksum that is
right: otherwise nothing would ever get past it.

Promises  any input ends in InvalidBatch or in records; the compiled and the plain loops agree on
          which; what was read as records can be built and read again.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

CORPUS = ROOT / "fuzz" / "corpus" / "batches"
INPUT_BYTES_MAX = 4096
DECOMPRESSED_BYTES_MAX = 256 * 1024
LIMITS = ("-rss_limit_mb=512", "-timeout=5", f"-max_len={INPUT_BYTES_MAX}")
CODECS = 5
WHOLE, COMPRESSED, OPEN = 0, 1, 1 + CODECS  # the first byte: the last two, and the codec added
FORMS = 1 + 2 * CODECS
NOW_MS = 1_760_000_000_000


def batch_of(data: bytes) -> bytes:
    """The batch that an input stands for."""
    from ottla.protocol.records.batch import HEADER_BYTES, read_header
    from ottla.protocol.records.building import assemble, seal

    form, rest = (data[0] if data else WHOLE) % FORMS, data[1:]
    if form == WHOLE:
        return rest
    header = read_header(rest[:HEADER_BYTES].ljust(HEADER_BYTES, b"\0"))
    codec = (form - COMPRESSED) % CODECS
    header = header._replace(magic=2, attributes=header.attributes & ~7 | codec)
    if form >= OPEN:
        return bytes(assemble(header, rest[HEADER_BYTES:]))
    batch = bytearray(HEADER_BYTES) + rest[HEADER_BYTES:]
    seal(batch, header)
    return bytes(batch)


def check_input(data: bytes) -> bool:
    """Whether it was a good batch; raises whatever is wrong with our decoders."""
    from ottla.protocol.errors import InvalidBatch
    from ottla.protocol.records.building import build_batch
    from ottla.protocol.records.reading import iterate_records

    batch = batch_of(data)
    for opener in openers():
        try:
            opener(batch)
        except InvalidBatch:
            pass
    try:
        compare_loops(batch)
        records = list(iterate_records(batch, 0, DECOMPRESSED_BYTES_MAX))
    except InvalidBatch:
        return False
    rows = [record._replace(offset=number) for number, record in enumerate(records)]
    assert list(iterate_records(build_batch(rows))) == rows, data.hex()
    return True


def openers() -> list[Callable[[bytes], object]]:
    """Every way in which the program opens a batch."""
    from ottla.protocol.records.arrow import read_arrow
    from ottla.protocol.records.batch import iterate_headers
    from ottla.protocol.records.checking import ProduceRules, check_produced
    from ottla.protocol.records.control import read_end_marker
    from ottla.protocol.records.record_index import iterate_indexes
    from ottla.protocol.records.searching import find_timestamp

    limit = DECOMPRESSED_BYTES_MAX
    rules = [ProduceRules(is_compacted=True, decompressed_bytes_max=limit), ProduceRules()]
    return [
        lambda batch: list(iterate_headers(batch)),
        lambda batch: check_produced(batch, rules[0], produce_version=9, now_ms=NOW_MS),
        lambda batch: check_produced(batch, rules[1], produce_version=3, now_ms=NOW_MS),
        lambda batch: [index.keys() for index in iterate_indexes(batch, 0, limit, 5)],
        lambda batch: find_timestamp(batch, 0, NOW_MS, decompressed_bytes_max=limit),
        lambda batch: read_end_marker(batch),
        lambda batch: [
            table.validate(full=True)
            for table in read_arrow(
                batch, with_headers=True, check_checksums=False, decompressed_bytes_max=limit
            )
        ],
    ]


def compare_loops(batch: bytes) -> None:
    """The plain loops are what the fuzzer can see into; the compiled ones must do the same."""
    from tests.unit.protocol.records.loops import agreed

    from ottla.protocol.records.batch import read_header
    from ottla.protocol.records.column_layout import RecordSegment
    from ottla.protocol.records.reading import open_body

    header = read_header(batch)
    body = bytes(open_body(batch, 0, header, DECOMPRESSED_BYTES_MAX))
    count, bases = header.records_count, (header.base_offset, header.base_timestamp)
    agreed("walk", body, 0, len(body), count, header.base_timestamp, True, True)
    agreed("decode", body, 0, 0, count, True, *bases, None)
    agreed("skip", body, 0, len(body), 0, count // 2)
    if 0 <= count <= len(body):
        agreed("select", body, 0, len(body), count, b"\1\0\1" * count, header.max_timestamp)
    segment = RecordSegment(body, 0, len(body), 0, count, True, *bases, None)
    agreed("columns", [segment], True)


def mutate(data: bytes, size_max: int, seed: int) -> bytes:
    """Now and then fresh records, or a hostile number among them; then what libFuzzer does."""
    import atheris
    from tests.unit.protocol.records.cases import spoil

    random = Random(seed)
    if random.random() < 0.1:
        data = random_input(random)
    if random.random() < 0.3:
        data = data[:1] + spoil(random, data[1:])
    mutated: bytes = atheris.Mutate(data[:size_max], size_max)
    return mutated


def random_input(random: Random) -> bytes:
    from tests.unit.protocol.records.cases import random_records

    from ottla.protocol.records.building import build_batch

    rows = [
        row._replace(offset=number, value=row.value and row.value[:200])
        for number, row in enumerate(random_records(random))
    ]
    form = random.randrange(FORMS)
    codec = (form - COMPRESSED) % CODECS if COMPRESSED <= form < OPEN else 0
    return bytes([form]) + build_batch(rows, codec=codec)


def seed_inputs() -> dict[str, bytes]:
    """The committed corpus: small batches of every codec in every form, and some traps."""
    from tests.unit.protocol.records.bombs import batches
    from tests.unit.protocol.records.cases import RECORD_SETS

    from ottla.protocol.records.building import build_batch
    from ottla.protocol.records.compression import Codec
    from ottla.protocol.records.control import build_end_marker

    rows = [
        row._replace(offset=number)
        for number, row in enumerate(RECORD_SETS["nulls"] + RECORD_SETS["headers"][:1])
    ]
    made = {}
    for codec in Codec:
        batch = build_batch(rows, codec=codec, producer_id=1, producer_epoch=0, base_sequence=3)
        made[f"whole-{codec.name.lower()}"] = bytes([WHOLE]) + batch
        made[f"compressed-{codec.name.lower()}"] = bytes([COMPRESSED + codec]) + batch
        made[f"open-{codec.name.lower()}"] = bytes([OPEN + codec]) + build_batch(rows)
    marker = build_end_marker(True, 3, producer_id=1, producer_epoch=0, timestamp_ms=NOW_MS)
    made["marker"] = bytes([WHOLE]) + marker
    for name, bomb in batches():
        if len(bomb) < INPUT_BYTES_MAX:
            made["bomb-" + re.sub(r"\W+", "-", name)] = bytes([WHOLE]) + bomb
    return made


def write_corpus() -> None:
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, data in seed_inputs().items():
        (CORPUS / name).write_bytes(data)


def fuzz(arguments: list[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=["ottla.protocol"]):
        check_input(b"\0")
        openers()
    with tempfile.TemporaryDirectory() as found:  # the committed corpus is read, not added to
        atheris.Setup(
            [sys.argv[0], *LIMITS, *arguments, found, str(CORPUS)],
            check_input,
            custom_mutator=mutate,
        )
        atheris.Fuzz()


def main() -> None:
    if sys.argv[1:] == ["--write-corpus"]:
        write_corpus()
    else:
        fuzz(sys.argv[1:])


if __name__ == "__main__":
    main()
