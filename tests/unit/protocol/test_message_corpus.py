"""The fuzzer's committed frames, replayed: what once taught us something stays fixed."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz.messages import CORPUS, check_input, seed_inputs

FRAMES = sorted(CORPUS.iterdir())


@pytest.mark.parametrize("path", FRAMES, ids=lambda path: path.name)
def test_a_frame_of_the_corpus_is_refused_or_comes_back(path: Path) -> None:
    check_input(path.read_bytes())


def test_the_corpus_has_a_valid_request_of_every_api() -> None:
    """Renew it with `python fuzz/messages.py --write-corpus` when a schema has changed."""
    made = seed_inputs()
    assert {path.name for path in FRAMES} >= made.keys()
    valid = [name for name, data in made.items() if check_input(data)]
    assert set(made) - set(valid) == {"metadata-bomb"}
