"""Functions of imported modules that are exchanged for a mutant."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path

import pytest
from tools.mutants.mutant import find_mutants
from tools.mutants.swapping import swap

TOY = """\
def clamp(value: int) -> int:
    return min(value, 10)
"""


@pytest.mark.parametrize("is_frozen", [True, False])
def test_a_function_is_changed_wherever_it_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_frozen: bool
) -> None:
    """Also one that the garbage collector does not visit, as in a session with many tests."""
    name = f"swapped_toy_{is_frozen}"
    path = tmp_path / f"{name}.py"
    path.write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    clamp = importlib.import_module(name).clamp
    (mutant, *_) = [each for each in find_mutants(path, tmp_path) if "max(" in each.change]
    gc.freeze() if is_frozen else gc.unfreeze()
    try:
        assert clamp(50) == 10
        swap(mutant, tmp_path)
        assert clamp(50) == 50
    finally:
        gc.freeze()
