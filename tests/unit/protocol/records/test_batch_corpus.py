"""The fuzzer's committed batches, replayed: what once taught us something stays fixed."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.batches import CORPUS, check_input

INPUTS = sorted(CORPUS.iterdir())
GOOD = ("whole-", "compressed-", "open-", "marker")


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_an_input_of_the_corpus_is_refused_or_comes_back(path: Path) -> None:
    assert check_input(path.read_bytes()) is path.name.startswith(GOOD)


def test_the_corpus_has_good_batches_of_every_codec_and_traps() -> None:
    names = {path.name for path in INPUTS}
    for form in ("whole", "compressed", "open"):
        assert {f"{form}-{codec}" for codec in ("none", "gzip", "snappy", "lz4", "zstd")} <= names
    assert sum(name.startswith("bomb-") for name in names) > 5
