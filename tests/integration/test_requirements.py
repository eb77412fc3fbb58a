"""The rules by which tests are skipped or failed where the machine lacks something."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from tests.support.requirements import (
    NATIVE_MODULE,
    NEEDS,
    REQUIREMENTS,
    Requirement,
    Verdict,
    java_version,
    judge,
    required_names,
)

NOTHING = {name: Requirement(name, lambda: "install it") for name in REQUIREMENTS}
EVERYTHING = {name: Requirement(name, lambda: None) for name in REQUIREMENTS}
ROOT = Path(__file__).parents[2]


def test_a_test_whose_requirement_is_missing_is_skipped_with_advice() -> None:
    assert judge(["java"], frozenset(), NOTHING) == Verdict("needs java: install it", False)


def test_a_test_whose_demanded_requirement_is_missing_fails() -> None:
    assert judge(["java"], frozenset({"java"}), NOTHING) == Verdict("needs java: install it", True)


def test_demanding_one_requirement_leaves_the_others_skippable() -> None:
    verdict = judge(["native"], frozenset({"java", "maven"}), NOTHING)
    assert verdict is not None
    assert not verdict.is_failure


def test_java_tests_need_maven_too() -> None:
    without_maven = EVERYTHING | {"maven": NOTHING["maven"]}
    assert judge(["java"], frozenset({"maven"}), without_maven) == Verdict(
        "needs maven: install it", True
    )


def test_a_test_runs_where_everything_is_there_or_nothing_is_needed() -> None:
    assert judge(["java", "native"], frozenset(REQUIREMENTS), EVERYTHING) is None
    assert judge(["slow", "parametrize"], frozenset(REQUIREMENTS), NOTHING) is None


def test_a_demand_that_nothing_answers_to_is_refused() -> None:
    with pytest.raises(ValueError, match="jaav"):
        required_names("jaav,maven")


def test_demands_are_a_comma_list() -> None:
    assert required_names(" java, maven ,,") == {"java", "maven"}
    assert required_names("") == frozenset()


def test_every_marker_needs_known_requirements() -> None:
    assert {need for needs in NEEDS.values() for need in needs} == REQUIREMENTS.keys()


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025-09-16', 25),
        ("javac 21.0.2", 21),
        ("command not found", None),
    ],
)
def test_java_versions_are_read_from_what_java_prints(printed: str, version: int | None) -> None:
    assert java_version(printed) == version


@pytest.mark.native
def test_the_compiled_record_module_is_there() -> None:
    assert importlib.import_module(NATIVE_MODULE)


def test_the_tests_that_must_pass_before_a_change_lands_demand_everything() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert f"OTTLA_REQUIRE={','.join(REQUIREMENTS)}" in script
