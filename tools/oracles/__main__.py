"""Compares every message in every version with every codec that has it, and writes the table.

    python -m tools.oracles [--seed N] [--values N]

Needs Java and Maven for Apache Kafka's classes, and the packages of the extra `test`.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.message_values import all_messages
from tests.support.oracle import Oracle
from tools.messages.schema import MessageSchema
from tools.oracles.codec import ForeignCodec
from tools.oracles.comparison import Disagreement, compare
from tools.oracles.kafka_codec import KafkaCodec
from tools.oracles.kafka_python_codec import KafkaPythonCodec
from tools.oracles.kio_codec import KioCodec
from tools.oracles.table import TABLE, Row, schema_digest, table_text


def compare_row(
    message: MessageSchema, codecs: Sequence[ForeignCodec], seed: int, count: int
) -> tuple[Row, list[Disagreement]]:
    row = Row(message.name, dict.fromkeys(message.versions, ""), digest=schema_digest(message))
    row.decoded = dict(row.encoded)
    found: list[Disagreement] = []
    for codec in codecs:
        versions = [version for version in message.versions if codec.has(message, version)]
        differing = compare(message, versions, codec, seed, count)
        for direction, cells in (("encode", row.encoded), ("decode", row.decoded)):
            bad = {each.case.version for each in differing if each.direction == direction}
            for version in versions:
                cells[version] += "" if version in bad else codec.letter
        found += differing
    return row, found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.oracles", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--values", type=int, default=40, help="random values for each version")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Oracle(Path(folder) / "oracle.log") as oracle:
        codecs: list[ForeignCodec] = [KafkaCodec(oracle), KioCodec(), KafkaPythonCodec()]
        compared = [
            compare_row(message, codecs, options.seed, options.values) for message in all_messages()
        ]
    differing = [each for _, found in compared for each in found]
    for each in differing:
        print(each)
    letters = {codec.letter: codec.name for codec in codecs}
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text(table_text((row for row, _ in compared), letters))
    print(f"{TABLE.name}: {len(compared)} messages, {len(differing)} values differ", end=" ")
    print(f"(seed {options.seed})")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
