"""Fuzzes every message decoder: requests, responses and stored records, in all versions.

    python fuzz/messages.py -runs=1000000          coverage-guided, needs the extra `fuzz`
    python fuzz/messages.py --write-corpus         renews the frames in fuzz/corpus/messages

An input is two bytes that choose a message and a version, then the body. Every tenth input begins
as a valid body drawn from the schema, which the fuzzer then spoils: random bytes alone seldom get
past the first array.

Promises  any input ends in MalformedMessage or in a message; what decodes can be encoded, and
          decodes to the same bytes again.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.message_pieces import hostile_numbers, joined, pieces_of  # noqa: E402
from tests.support.message_values import (  # noqa: E402
    FULL,
    MIXED,
    all_messages,
    draw_value,
    message_class,
    message_named,
)
from tools.messages.schema import MessageSchema  # noqa: E402

CORPUS = ROOT / "fuzz" / "corpus" / "messages"
MESSAGES = all_messages()
INPUT_BYTES_MAX = 4096
LIMITS = ("-rss_limit_mb=256", "-timeout=5", f"-max_len={INPUT_BYTES_MAX}")
METADATA_BOMB = bytes.fromhex("030000033c0c00b6")


def chosen(data: bytes) -> tuple[MessageSchema, int]:
    message = MESSAGES[data[0] % len(MESSAGES)]
    versions = list(message.versions)
    return message, versions[data[1] % len(versions)]


def head(message: MessageSchema, version: int) -> bytes:
    """The two bytes that choose a message and version."""
    return bytes([MESSAGES.index(message), version - message.versions.first])


def check_input(data: bytes) -> bool:
    """Whether it was a message; raises whatever is wrong with our decoders."""
    from ottla.protocol.errors import MalformedMessage

    if len(data) < 2:
        return False
    message, version = chosen(data)
    decode = message_class(message).decode
    try:
        decoded = decode(memoryview(data)[2:], version)
    except MalformedMessage:
        return False
    encoded = decoded.encode(version)
    again = decode(encoded, version).encode(version)
    assert again == encoded, f"{message.name} version {version}: {data.hex()}"
    return True


def mutate(data: bytes, size_max: int, seed: int) -> bytes:
    """Now and then a fresh valid body, or a hostile number in one; then what libFuzzer does."""
    import atheris

    random = Random(seed)
    if len(data) < 2 or random.random() < 0.1:
        message, version = chosen(data if len(data) >= 2 else random.randbytes(2))
        pieces = pieces_of(message, version, draw_value(message, version, random, MIXED))
        numbers = [at for at, piece in enumerate(pieces) if piece.width is not None]
        body = joined(pieces)
        if numbers and random.random() < 0.5:
            at = random.choice(numbers)
            hostile = random.choice(hostile_numbers(pieces[at].width or 0))
            body = joined(pieces[:at]) + hostile + joined(pieces[at + 1 :])
        data = head(message, version) + body
    mutated: bytes = atheris.Mutate(data[:size_max], size_max)
    return mutated


def seed_inputs() -> dict[str, bytes]:
    """The committed corpus: the newest version of every request with all fields set, and a trap."""
    made = {"metadata-bomb": head(message_named("MetadataRequest"), 9) + METADATA_BOMB}
    for message in MESSAGES:
        if message.name.endswith("Request"):
            version = message.versions.last
            value = draw_value(message, version, Random(message.name), FULL)
            made[message.module] = head(message, version) + joined(
                pieces_of(message, version, value)
            )
    return made


def write_corpus() -> None:
    CORPUS.mkdir(parents=True, exist_ok=True)
    for old in CORPUS.iterdir():
        old.unlink()
    for name, data in seed_inputs().items():
        (CORPUS / name).write_bytes(data)


def fuzz(arguments: list[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=["ottla.protocol"]):
        for message in MESSAGES:
            message_class(message)
    with tempfile.TemporaryDirectory() as found:  # the committed corpus is read, not added to
        atheris.Setup(
            [sys.argv[0], *LIMITS, *arguments, found, str(CORPUS)],
            check_input,
            custom_mutator=mutate,
        )
        atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:] == ["--write-corpus"]:
        write_corpus()
    else:
        fuzz(sys.argv[1:])
