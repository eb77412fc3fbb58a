"""The parser of a command's options: short errors instead of a page of usage."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from ottla.cli.errors import USAGE
from ottla.cli.output.printable import printable

_ARGUMENT = re.compile(r"^argument ([^\s:]+): ")


class CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """`argument -p/--partitions: ...` becomes `--partitions: ...`."""
        text = printable(_ARGUMENT.sub(lambda found: f"{main_name(found[1])}: ", message))
        self.exit(USAGE, f"{self.prog}: {text}\n  see: {self.prog} --help\n")


def main_name(names: str) -> str:
    """The first long name of an option; the others are short, or names of other tools."""
    each = names.split("/")
    return next((name for name in each if name.startswith("--")), each[0])
