"""The parser of a command's options: short errors instead of a page of usage."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from ottla.cli.errors import USAGE
from ottla.cli.output.printable import printable

_ARGUMENT = re.compile(r"^argument (?:(?:-\w|--[\w-]+)/)*")


class CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """`argument -p/--partitions: ...` becomes `--partitions: ...`."""
        text = _ARGUMENT.sub("", message)
        self.exit(USAGE, f"{self.prog}: {printable(text)}\n  see: {self.prog} --help\n")
