"""The parser of a command's options: short errors instead of a page of usage."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from ottla.cli.arguments.kafka_options import replacement
from ottla.cli.errors import USAGE
from ottla.cli.output.printable import printable

_VALUE = "\0"  # begins a word that is no option; arguments of a process cannot contain it
_NEGATIVE = re.compile(r"-[0-9]")
OPTIONS_END = "--"
_UNKNOWN = "unrecognized arguments: "
_ARGUMENT = re.compile(r"^argument ([^\s:]+): ")


class CommandParser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # `-5:3` and `-48h` are values, as `-5` is; no option begins with a digit.
        self._negative_number_matcher = _NEGATIVE

    def parse_words(self, words: Sequence[str]) -> argparse.Namespace:
        """Words after `--` are values. argparse would treat the first of them as options, and drop
        every further `--`.
        """
        end = words.index(OPTIONS_END) if OPTIONS_END in words else len(words)
        values = [_VALUE + word for word in words[end + 1 :]]
        return self.parse_intermixed_args([*words[:end], *values])

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        return super()._get_value(action, text.removeprefix(_VALUE))

    def _print_message(self, message: str, file: Any = None) -> None:
        """argparse ignores that the help cannot be written."""
        if message:
            (sys.stderr if file is None else file).write(message)
            (sys.stderr if file is None else file).flush()

    def error(self, message: str) -> NoReturn:
        """`argument -p/--partitions: ...` becomes `--partitions: ...`."""
        message = message.replace(_VALUE, "")
        text = _ARGUMENT.sub(lambda found: f"{main_name(found[1])}: ", message)
        lines = [text, *self._replacements(message), f"see: {self.prog} --help"]
        self.exit(USAGE, f"{self.prog}: " + "\n  ".join(map(printable, lines)) + "\n")

    def _replacements(self, message: str) -> list[str]:
        """Advice about short options of kcat. Long options are reported before parsing."""
        if not message.startswith(_UNKNOWN):
            return []
        words = message.removeprefix(_UNKNOWN).split()
        advice = {word: replacement(word, self._option_string_actions) for word in words}
        return [f"instead of {word} write {text}" for word, text in advice.items() if text]


def main_name(names: str) -> str:
    """The first long name of an option; the others are short, or names of other tools."""
    each = names.split("/")
    return next((name for name in each if name.startswith("--")), each[0])
