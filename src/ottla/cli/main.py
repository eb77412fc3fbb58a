"""The `ottla` command: finds the command named and runs it.

Each command is a module of this folder with `add_arguments(parser)` and `run(arguments)`;
only the one that is asked for is imported, so that every command starts quickly.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

COMMANDS = {
    "up": "run a broker in the foreground",
    "version": "what is installed, and which record decoder runs",
}


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["--version"]:
        words[0] = "version"
    if not words or words[0] in ("-h", "--help"):
        print(usage())
        return 0
    if words[0] not in COMMANDS:
        print(f"ottla: no command {words[0]!r}\n\n{usage()}", file=sys.stderr)
        return 2
    return run_command(words[0], words[1:])


def run_command(name: str, words: list[str]) -> int:
    command = import_module(f"ottla.cli.{name}")
    parser = argparse.ArgumentParser(prog=f"ottla {name}", description=COMMANDS[name])
    command.add_arguments(parser)
    return int(command.run(parser.parse_args(words)))


def usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {about}" for name, about in COMMANDS.items()]
    return "\n".join(["usage: ottla COMMAND ...", "", *lines])


if __name__ == "__main__":
    sys.exit(main())
