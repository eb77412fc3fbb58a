from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from ottla.cli.arguments.name_values import parse_name_values
from ottla.cli.arguments.numbers import whole_number
from ottla.cli.errors import CommandFailed


@pytest.mark.parametrize("text", ["0", "101", "-1", "9" * 5000, "1.5", "", "-", "x", "\u0663"])
def test_a_number_outside_its_range_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not"):
        whole_number(1, 100)(text)


def test_the_ends_of_the_range_are_taken() -> None:
    assert [whole_number(-5, 100)(text) for text in ("-5", "007", "100")] == [-5, 7, 100]


def test_names_and_values_are_separated_by_the_first_equals_sign() -> None:
    assert parse_name_values("-X", ["a=b=c", "d="]) == {"a": "b=c", "d": ""}
    with pytest.raises(CommandFailed, match="-X a: expected NAME=VALUE, such as b=1"):
        parse_name_values("-X", ["a"], "b=1")
    with pytest.raises(CommandFailed, match="expected NAME=VALUE"):
        parse_name_values("-X", ["=a"])
