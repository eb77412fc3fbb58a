"""The tests that the guide shows pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[3] / "docs/guides/testing-with-ottla.md"

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("pytest-plugin")]


def test_the_tests_of_the_guide_pass(pytester: pytest.Pytester) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    tests = [block for block in blocks if block.startswith("def test_")]
    settings = [block for block in blocks if "@pytest.fixture" in block]
    program = "def run_my_program(servers, topic):\n    assert servers and topic\n"
    pytester.makeconftest("\n".join(settings))
    pytester.makepyfile("\n\n".join([program, *tests]))
    assert len(tests) >= 4
    assert len(settings) == 1
    pytester.runpytest_subprocess().assert_outcomes(passed=len(tests))
