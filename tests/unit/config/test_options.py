from __future__ import annotations

from typing import Any

import pytest
from tests.support.configs import parse_config

from ottla.config.checks import at_least, between, each_of, one_of, throttled_replicas
from ottla.config.kinds import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    STRING,
    format_double,
    optional,
)
from ottla.config.options import InvalidOption, Option
from ottla.config.topic_options import TopicConfig


def refusal(option: Option[Any], text: str) -> str:
    with pytest.raises(InvalidOption) as raised:
        option.parse(text)
    return str(raised.value)


@pytest.mark.parametrize(("text", "value"), [("5", 5), ("+5", 5), (" -7 ", -7), ("007", 7)])
def test_a_number_is_read_as_java_reads_it(text: str, value: int) -> None:
    assert Option("n", 0, LONG, at_least(-9), "").parse(text) == value


@pytest.mark.parametrize("text", ["", "x", "1_000", "0x10", "1.0", "٣", "9" * 5000, "1 2"])
def test_what_is_no_number_is_named_with_its_type(text: str) -> None:
    message = refusal(Option("n", 0, INT, at_least(0), ""), text)
    assert message == f"Invalid value {text} for configuration n: Not a number of type INT"


def test_a_number_must_fit_its_width() -> None:
    assert Option("n", 0, INT, at_least(0), "").parse("2147483647") == 2147483647
    assert "Not a number of type INT" in refusal(Option("n", 0, INT, at_least(0), ""), "2147483648")


@pytest.mark.parametrize(
    ("text", "value"), [("0.5", 0.5), ("1e-1", 0.1), ("0.5f", 0.5), (".5", 0.5)]
)
def test_a_decimal_is_read_as_java_reads_it(text: str, value: float) -> None:
    assert Option("d", 0.0, DOUBLE, between(0, 1), "").parse(text) == value


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1_0", "", "."])
def test_what_is_no_finite_decimal_is_refused(text: str) -> None:
    message = refusal(Option("d", 0.0, DOUBLE, between(0, 1), ""), text)
    assert message == f"Invalid value {text} for configuration d: Not a number of type DOUBLE"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (1e7, "1.0E7"),
        (9999999.5, "9999999.5"),
        (123456789.125, "1.23456789125E8"),
        (-0.00012345, "-1.2345E-4"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
    ],
)
def test_a_decimal_is_written_as_java_writes_it(value: float, text: str) -> None:
    assert format_double(value) == text


def test_true_and_false_are_read_in_any_case_and_nothing_else_is() -> None:
    option = Option("b", False, BOOLEAN, lambda _name, _value: None, "")
    assert option.parse("TRUE") is True
    message = "Invalid value yes for configuration b: Expected value to be either true or false"
    assert refusal(option, "yes") == message


def test_the_error_for_a_value_out_of_bounds_has_the_bound() -> None:
    option = Option("d", 0.5, DOUBLE, between(0, 1), "")
    assert (
        refusal(option, "2")
        == "Invalid value 2.0 for configuration d: Value must be no more than 1"
    )
    assert (
        refusal(option, "-0.1")
        == "Invalid value -0.1 for configuration d: Value must be at least 0"
    )


def test_a_list_drops_repetitions_and_refuses_blanks_and_strangers() -> None:
    option = Option("l", (), LIST, each_of("compact", "delete"), "")
    assert option.parse(" delete , compact,delete ") == ("delete", "compact")
    assert option.parse("") == ()
    assert refusal(option, ",delete") == "Configuration 'l' values must not be empty."
    assert refusal(option, "delete,x") == (
        "Invalid value x for configuration l: String must be one of: compact, delete"
    )


@pytest.mark.parametrize("text", ["", "*", "0:1,10:2"])
def test_throttled_replicas_are_pairs_or_a_star(text: str) -> None:
    Option("t", (), LIST, throttled_replicas, "").parse(text)


@pytest.mark.parametrize("text", ["a", "*,0:1", "0:1,x", "none", "1"])
def test_other_throttled_replicas_are_refused_with_the_format(text: str) -> None:
    message = refusal(Option("t", (), LIST, throttled_replicas, ""), text)
    assert "must be the literal '*' or a list of replicas in the following format" in message


def test_a_password_is_sensitive_and_never_formatted() -> None:
    option = Option("p", "", PASSWORD, lambda _name, _value: None, "")
    assert option.is_sensitive
    assert option.format("secret") == "[hidden]"


def test_a_setting_without_a_value_has_no_text() -> None:
    assert Option("s", None, optional(STRING), one_of("a"), "").default_text is None


def test_a_config_is_read_from_texts_under_kafkas_names() -> None:
    config = parse_config(TopicConfig, {"retention.ms": "5", "cleanup.policy": "compact"})
    assert (config.retention_ms, config.is_compacted, config.is_deleted) == (5, True, False)


def test_unknown_names_are_all_listed() -> None:
    with pytest.raises(InvalidOption, match="unknown setting: a, b"):
        parse_config(TopicConfig, {"b": "1", "a": "1", "retention.ms": "5"})


@pytest.mark.parametrize("text", ["1e999", "-1e999", "9" * 900, "1e" + "9" * 900])
def test_a_number_beyond_every_double_is_refused(text: str) -> None:
    message = refusal(Option("n", 0.5, DOUBLE, between(0, 1), ""), text)
    assert message.endswith("Not a number of type DOUBLE")


@pytest.mark.parametrize(
    "text", ["1" * 40_000, "1" * 40_000 + "x", "." * 40_000, "1_0", "inf", "nan"]
)
def test_what_is_no_double_is_refused_however_long(text: str) -> None:
    assert "Not a number of type DOUBLE" in refusal(
        Option("n", 0.5, DOUBLE, between(0, 1), ""), text
    )


def test_a_list_is_split_at_commas_without_the_blanks_around_them() -> None:
    blanks = " " * 30_000
    assert LIST.parse(f"a{blanks},{blanks}b") == ("a", "b")
    assert LIST.parse(f"a{blanks}b, \t\nc") == (f"a{blanks}b", "c")
    assert LIST.parse(",") == ("",)
