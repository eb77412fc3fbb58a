"""Options of the form NAME=VALUE, which may be given several times."""

from __future__ import annotations

from collections.abc import Iterable

from ottla.cli.errors import USAGE, CommandFailed


def parse_name_value(option: str, text: str, example: str = "") -> tuple[str, str]:
    """`option` is named in the error message."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        such_as = f", such as {example}" if example else ""
        raise CommandFailed(
            f"{option} {text or repr(text)}: expected NAME=VALUE{such_as}", code=USAGE
        )
    return name, value


def parse_name_values(option: str, texts: Iterable[str], example: str = "") -> dict[str, str]:
    """CommandFailed if a name is given twice with different values: one would have no effect."""
    found: dict[str, str] = {}
    for text in texts:
        name, value = parse_name_value(option, text, example)
        if found.setdefault(name, value) != value:
            raise CommandFailed(
                f"{option} {name} is given twice: {found[name]!r} and {value!r}", code=USAGE
            )
    return found
