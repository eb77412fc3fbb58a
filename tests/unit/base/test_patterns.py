"""Patterns from outside: matched in linear time, refused with a reason where they cost too much."""

from __future__ import annotations

import pytest

from ottla.base.patterns import (
    PATTERN_CHARS_MAX,
    PROPERTIES_MAX,
    REPETITIONS_MAX,
    STEPS_MAX,
    PatternError,
    check_costs,
    compile_pattern,
)


def test_a_pattern_counts_for_the_whole_text() -> None:
    pattern = compile_pattern("payments-[0-9]+")
    assert pattern.matches("payments-17")
    assert not pattern.matches("payments-17x")
    assert not pattern.matches("my-payments-17")


def test_characters_are_those_of_unicode() -> None:
    assert compile_pattern("ž.").matches("žž")
    assert compile_pattern("a\0b").matches("a\0b")
    assert compile_pattern("\\pL").matches("日")
    assert compile_pattern(".").matches("\ud800")  # cannot be encoded: any character


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "(" * PATTERN_CHARS_MAX,
        "[" * 1000,
        "a(?=b)",
        "a(?<!b)",
        r"(a)\1",
        "a{1000}{1000}",
        "((a{100}){100}){100}",
        "a{1001}",
        "(?:a|bc){1000}(?:a|bc){1000}(?:a|bc){1000}",
        r"\pL{100}",
        r"\p{NoSuchScript}",
        "\ud800",
        "*",
        "\\",
        "a" * (PATTERN_CHARS_MAX + 1),
        r"\pL?" * (PROPERTIES_MAX + 1),
        r"\PL?" * (PROPERTIES_MAX + 1),
        "a{2}" * (REPETITIONS_MAX + 1),
    ],
)
def test_what_cannot_be_compiled_within_the_bounds_is_refused_with_a_short_reason(
    pattern: str,
) -> None:
    with pytest.raises(PatternError) as refused:
        compile_pattern(pattern)
    assert 0 < len(str(refused.value)) < 300


def test_several_patterns_may_cost_as_much_as_one() -> None:
    check_costs(["a" * (PATTERN_CHARS_MAX // 2)] * 2)
    with pytest.raises(PatternError):
        check_costs(["a" * (PATTERN_CHARS_MAX // 2)] * 2 + ["a"])
    with pytest.raises(PatternError):
        check_costs([r"\pL" * PROPERTIES_MAX, r"\PN"])


@pytest.mark.parametrize("pattern", ["(x+x+)+y", "(a?){30}a{30}", "(a*)*b", "(a|a)*b", "(.*)*x"])
def test_patterns_that_make_others_backtrack_are_decided(pattern: str) -> None:
    compiled = compile_pattern(pattern)
    assert not compiled.matches("x" * 10_000 + "z")


def test_a_text_that_is_too_long_for_the_pattern_is_refused() -> None:
    small, large = compile_pattern("a*"), compile_pattern("(?:a?b?){0,400}")
    text = "a" * 32_767
    assert small.matches(text)
    with pytest.raises(PatternError, match="too large to be compared with 32767 bytes"):
        large.matches(text)
    assert large.matches("ab" * 100)


def test_out_of_memory_for_states_a_pattern_still_matches() -> None:
    # The DFA of "the 60th letter from the end is a" has 2**60 states.
    pattern = compile_pattern("[ab]*a[ab]{59}")
    text = "".join("ab"[number.bit_count() % 2] for number in range(10_000))
    assert pattern.matches(text[:-60] + "a" + "b" * 59)
    assert not pattern.matches(text[:-60] + "b" + "a" * 59)
    assert STEPS_MAX // 10_000 > 60
