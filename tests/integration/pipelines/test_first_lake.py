"""The tutorial as a reader follows it: every command and program, and what they print."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from tests.integration.examples.test_guides import FIRST_LAKE, check_guide

# Columns of tables are as wide as addresses and paths, which differ.
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

pytestmark = [pytest.mark.ci, pytest.mark.slow]


def test_the_first_lake_is_as_the_tutorial_shows(
    spark_jvm: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_guide(FIRST_LAKE, tmp_path, OPTIONS)
