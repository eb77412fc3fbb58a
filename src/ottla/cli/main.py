"""The `ottla` command: finds the command named and runs it.

A command is a module of `commands/` with `add_arguments(parser)` and `run(arguments)`. Only the one
that is asked for is imported, so that every command starts quickly.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ottla.cli.command_table import ALIASES, COMMANDS

if TYPE_CHECKING:
    import argparse

Known = Mapping[str, "str | Known"]

HELP = ("-h", "--help", "help")
OUTPUT_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
INTERRUPTED = 130  # what shells give a command that Ctrl-C ended


class Found(NamedTuple):
    """The command that was named, and the words that are left for it."""

    names: tuple[str, ...]
    about: str
    rest: list[str]


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    found = find_command(words)
    if isinstance(found, Found):
        return run_command(found)
    text, code = found
    print(text, file=sys.stderr if code else sys.stdout)
    return code


def find_command(words: list[str]) -> Found | tuple[str, int]:
    """The command; or what to print instead, and the exit code."""
    names: tuple[str, ...] = ()
    known: Known = COMMANDS
    while True:
        if not words or words[0] in HELP:
            return usage(names, known), 0 if words else 2 if names else 0
        name, *words = words
        name = name if names else ALIASES.get(name, name)
        about = known.get(name)
        if about is None:
            return f"{unknown(names, name, known)}\n\n{usage(names, known)}", 2
        names = (*names, name)
        if isinstance(about, str):
            return Found(names, about, words)
        known = about


def run_command(found: Found) -> int:
    import argparse

    from ottla.cli.errors import CommandFailed

    command = import_module(".".join(("ottla.cli.commands", *found.names)))
    name = " ".join(("ottla", *found.names))
    parser = argparse.ArgumentParser(
        prog=name,
        description=found.about,
        epilog=getattr(command, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    # Before parsing, which would rather tell what else is missing.
    if (problem := unknown_option(found.rest, options_of(parser))) is not None:
        parser.error(problem)
    try:
        code = int(command.run(parser.parse_intermixed_args(found.rest)))
        sys.stdout.flush()
    except CommandFailed as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except kafka_errors() as error:
        print(f"{name}: {error.args[0].str()}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read our output has enough, as `head` does
        forget_output()
        return 0
    except OSError as error:
        if error.errno not in OUTPUT_FULL or not is_output_full():
            raise
        forget_output()
        print(f"{name}: the output cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    return code


def is_output_full() -> bool:
    """Or is it a file of the command's: then standard output takes one more line."""
    try:
        print(flush=True)
    except OSError:
        return True
    return False


def forget_output() -> None:
    """What is still in the buffer goes nowhere: Python would try to write it again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def options_of(parser: argparse.ArgumentParser) -> list[str]:
    return [name for action in parser._actions for name in action.option_strings]


def unknown_option(words: Sequence[str], known: Sequence[str]) -> str | None:
    """What to say about the first long option that the command does not have."""
    from ottla.cli.errors import did_you_mean

    for word in words:
        if word == "--":
            break  # all the rest are values
        name = word.partition("=")[0]
        if word.startswith("--") and " " not in name and name not in known:
            question = did_you_mean(name, [each for each in known if each.startswith("--")])
            return f"there is no option {name}" + (f"; {question}" if question else "")
    return None


def kafka_errors() -> tuple[type[Exception], ...]:
    """What the client library raises, if the command has loaded it."""
    library = sys.modules.get("confluent_kafka")
    return () if library is None else (library.KafkaException,)


def usage(names: tuple[str, ...], known: Known) -> str:
    rows = list(rows_of(known))
    width = max(len(name) for name, _ in rows)
    noun = "VERB" if names else "COMMAND"
    return "\n".join(
        [
            f"usage: {' '.join(('ottla', *names))} {noun} ...",
            "",
            *(f"  {name:<{width}}  {about}" for name, about in rows),
            "",
            f"{' '.join(('ottla', *names))} {noun} --help tells more about each of them.",
        ]
    )


def rows_of(known: Known) -> list[tuple[str, str]]:
    rows = []
    for name, about in known.items():
        if isinstance(about, str):
            rows.append((name, about))
        else:
            rows += [(f"{name} {verb}", text) for verb, text in rows_of(about)]
    return rows


def unknown(names: tuple[str, ...], name: str, known: Known) -> str:
    from ottla.cli.errors import did_you_mean

    if names and name.startswith("-"):
        return f"ottla {' '.join(names)}: the verb comes first, then {name}"
    question = did_you_mean(name, known)
    return f"ottla: no command {' '.join((*names, name))!r}" + (f"; {question}" if question else "")


if __name__ == "__main__":
    sys.exit(main())
