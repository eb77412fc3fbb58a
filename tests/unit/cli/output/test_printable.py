from __future__ import annotations

from ottla.cli.output.printable import display_width, printable, printable_bytes
from ottla.cli.output.tables import Column, table
from ottla.cli.records.formats import record_formatter
from ottla.cli.records.record import TopicRecord
from ottla.cli.templates.printer import RecordContext

TITLE = b"\x1b]0;owned\x07"


def test_control_characters_are_escaped_and_text_stays_as_it_is() -> None:
    assert printable("käse \\n {}\t") == "käse \\n {}\t"
    assert printable("a\x1b[2Jb\u202ec") == r"a\x1b[2Jb\u202ec"
    assert printable_bytes(b"a\nb\xff\t\x07") == b"a\nb\\xff\t\\x07"


def test_every_format_is_safe_on_a_terminal_and_exact_elsewhere() -> None:
    record = TopicRecord(TITLE + "\u009b".encode(), b"k\x1b", (("h\x1b", b"\x1b"),))
    for form in ("text", "json", "yaml", r"%k %v %h{%k=%v}\n"):
        shown = record_formatter(form, is_terminal=True)(record, RecordContext())
        assert b"\x1b" not in shown
        assert "\u009b" not in shown.decode()
    assert record_formatter("text")(record, RecordContext()) == (record.value or b"") + b"\n"


def test_tables_are_aligned_by_the_width_on_screen() -> None:
    assert display_width("日本a\u0301") == 5
    rows: list[dict[str, object]] = [
        {"name": "日本", "count": 1},
        {"name": "ascii", "count": 20},
    ]
    assert table((Column("NAME", "name"), Column("COUNT", "count")), rows).splitlines() == [
        "NAME   COUNT",
        "日本       1",
        "ascii     20",
    ]


def test_names_of_others_cannot_control_the_terminal() -> None:
    assert "\x1b" not in table((Column("NAME", "name"),), [{"name": "g\x1b[2J"}])
