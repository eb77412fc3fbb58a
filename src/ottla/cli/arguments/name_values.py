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
    """If a name is given twice, the last value counts."""
    return dict(parse_name_value(option, text, example) for text in texts)
