"""Text that a client chose stays one harmless piece of a line in a log."""

import pytest

from ottla.base.log_messages.log_text import shown


@pytest.mark.parametrize("text", ["", "rdkafka", "Grüße 日本 🎉", "a b-c_d.e:[1] 'x' \"y\""])
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb", r"a\x0ab"),
        ("a\r\tb", r"a\x0d\x09b"),
        ("\x00", r"\x00"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x7f", r"\x7f"),
        ("\x9b2J", r"\x9b2J"),
        ("\x85", r"\x85"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\u202euser", r"\u202euser"),
        ("\u061c\u200e\u200f\ufeff", r"\u061c\u200e\u200f\ufeff"),
        ("\ud800", r"\ud800"),
        ("a\u200bb", r"a\u200bb"),
        ("\U000e0041", r"\U000e0041"),
        (r"\x0a", r"\\x0a"),
    ],
)
def test_what_could_forge_or_hide_a_line_is_escaped(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_every_control_and_direction_character_is_escaped() -> None:
    codes = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
    for code in codes:
        text = shown(chr(code))
        assert text.isprintable()
        assert text.startswith("\\")


def test_a_shown_text_can_always_be_encoded() -> None:
    shown("".join(map(chr, range(0xD7F0, 0xE010)))).encode()


def test_long_text_is_cut_and_its_length_said() -> None:
    assert shown("x" * 200) == "x" * 200
    assert shown("x" * 201) == "x" * 200 + "... (201 characters)"
    assert shown("\n" * 5, chars_max=2) == r"\x0a\x0a... (5 characters)"
