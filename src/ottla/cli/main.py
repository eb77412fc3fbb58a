"""The `ottla` command: finds the command named and runs it.

A command is a module of `commands/` with `add_arguments(parser)` and `run(arguments)`. Only the one
that is asked for is imported, so that every command starts quickly.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # built in; `signal` takes time to load

# Until `main` handles Ctrl-C it ends the process at once, without a traceback of these imports.
_handler = _signal.getsignal(_signal.SIGINT)
try:
    if _handler is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    import sys
    from collections.abc import Mapping, Sequence
    from importlib import import_module
    from typing import TYPE_CHECKING, Any, NamedTuple

    from ottla.cli.command_table import ALIASES, COMMANDS, TOOLS, module_of
finally:
    if _handler is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)

if TYPE_CHECKING:
    import argparse

    from ottla.cli.arguments.parser import CommandParser

Known = Mapping[str, "str | Known"]

HELP = ("-h", "--help", "help")
INTERRUPTED = 130  # the exit code of shells for a command that Ctrl-C ended


class FoundCommand(NamedTuple):
    """The command that was named, and the remaining words."""

    names: tuple[str, ...]
    summary: str
    rest: list[str]


def main(arguments: Sequence[str] | None = None, *, takes_interrupts: bool = False) -> int:
    """The exit code. With `takes_interrupts` Ctrl-C raises KeyboardInterrupt in the command."""
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        found = find_command(words)
        if isinstance(found, FoundCommand):
            return run_command(found, takes_interrupts=takes_interrupts)
        return show(*found)
    except BaseException as error:
        if (code := interrupted_code(error)) is None:
            raise
        return code


def show(text: str, code: int) -> int:
    """Print what `find_command` returned instead of a command. Returns the exit code."""
    stream = sys.stderr if code else sys.stdout
    try:
        if stream is not None:
            print(text, file=stream, flush=True)
            return code
    except OSError:
        pass
    # Only now, because loading these takes longer than printing.
    from ottla.cli.process import repair_standard_streams, report_failures

    repair_standard_streams()
    return code or report_failures("ottla", lambda: print(text, flush=True) or code)


def interrupted_code(error: BaseException | None) -> int | None:
    """The exit code if a signal led to the error, which may be another one: of code that was
    interrupted while it cleaned up (argparse), or of a C function of the client library.
    """
    signals: Any = sys.modules.get("ottla.cli.interruptions")
    if signals is not None and signals.interruptions.last is not None:
        return int(signals.interruptions.last.code)
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return None if error is None else INTERRUPTED


def find_command(words: list[str]) -> FoundCommand | tuple[str, int]:
    """The command; or what to print instead, and the exit code."""
    names: tuple[str, ...] = ()
    known: Known = COMMANDS
    if words[:1] == ["help"] and len(words) > 1:  # `ottla help topics create`
        words = [*words[1:], "--help"]
    while True:
        if not words or words[0] in HELP:
            return usage(names, known), 0 if words else 2 if names else 0
        name, *words = words
        name = name if names else ALIASES.get(name, name)
        summary = known.get(name)
        if summary is None:
            # The error is last, because the list may be longer than the window.
            return f"{usage(names, known)}\n\n{unknown(names, name, known)}", 2
        names = (*names, name)
        if isinstance(summary, str):
            return FoundCommand(names, summary, words)
        known = summary


def run_command(found: FoundCommand, *, takes_interrupts: bool) -> int:
    from ottla.cli.process import repair_standard_streams, report_failures

    repair_standard_streams()
    name = " ".join(("ottla", *found.names))
    return report_failures(
        name, lambda: parse_and_run(found, name, takes_interrupts=takes_interrupts)
    )


def parse_and_run(found: FoundCommand, name: str, *, takes_interrupts: bool) -> int:
    """Until the command begins, signals end the process: Python prints and forgets an exception
    that a signal raises in a callback, and imports have such callbacks.
    """
    from ottla.cli.interruptions import interruptions

    command = import_module(module_of(found.names))
    parser = command_parser(command, found, name)
    # Before parsing, which would report what is missing instead.
    if (problem := unknown_option(found.rest, options_of(parser))) is not None:
        parser.error(problem)
    parsed = parser.parse_words(found.rest)
    with interruptions.raised(takes_ctrl_c=takes_interrupts):
        code = int(command.run(parsed))
        sys.stdout.flush()
    return code


def command_parser(command: Any, found: FoundCommand, name: str) -> CommandParser:
    import argparse

    from ottla.cli.arguments.parser import CommandParser

    parser = CommandParser(
        prog=name,
        description=found.summary,
        epilog=getattr(command, "EPILOG", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_arguments(parser)
    return parser


def options_of(parser: argparse.ArgumentParser) -> list[str]:
    return [name for action in parser._actions for name in action.option_strings]


def unknown_option(words: Sequence[str], known: Sequence[str]) -> str | None:
    """An error about the first long option that the command does not have."""
    for word in words:
        if word == "--":
            break  # the rest are values
        name = word.partition("=")[0]
        if word.startswith("--") and " " not in name and name not in known:
            from ottla.cli.arguments.kafka_options import replacement
            from ottla.cli.errors import did_you_mean

            if advice := replacement(name, known):
                return f"there is no option {name}; write {advice}"
            question = did_you_mean(name, [each for each in known if each.startswith("--")])
            return f"there is no option {name}" + (f"; {question}" if question else "")
    return None


def usage(names: tuple[str, ...], known: Known) -> str:
    rows = list(rows_of(known))
    width = max(len(name) for name, _ in rows)
    placeholder = "VERB" if names else "COMMAND"
    command = " ".join(("ottla", *names))
    return "\n".join(
        [
            f"usage: {command} {placeholder} ...",
            "",
            *(f"  {name:<{width}}  {summary}" for name, summary in rows),
            "",
            f"See also: {command} {placeholder} --help",
        ]
    )


def rows_of(known: Known) -> list[tuple[str, str]]:
    rows = []
    for name, summary in known.items():
        if isinstance(summary, str):
            rows.append((name, summary))
        else:
            rows += [(f"{name} {verb}", text) for verb, text in rows_of(summary)]
    return rows


def unknown(names: tuple[str, ...], name: str, known: Known) -> str:
    from ottla.cli.errors import did_you_mean

    if name.startswith("-"):
        if not names and (question := did_you_mean(name, ("--version", "--help"))) is not None:
            return f"ottla: there is no option {name}; {question}"
        if not names and name in ("-V", "-v"):
            return f"ottla: there is no option {name}; did you mean --version?"
        if (verb := name.lstrip("-")) in known:  # `kafka-topics.sh --list`
            return f"ottla: no option {name}; write {' '.join(('ottla', *names, verb))}"
        what = "verb" if names else "command"
        return f"{' '.join(('ottla', *names))}: the {what} comes first, then {name}"
    question = did_you_mean(name, known)
    tool = name.removeprefix("kafka-").removesuffix(".sh")
    if not names and (tool in TOOLS or tool in known):
        question = f"write {' '.join(('ottla', TOOLS.get(tool, tool)))}"
    nouns = [noun for noun, verbs in known.items() if not isinstance(verbs, str) and name in verbs]
    if nouns:  # `ottla create`
        question = f"did you mean {' or '.join(f'{noun} {name}' for noun in nouns)}?"
    return f"ottla: no command {' '.join((*names, name))!r}" + (f"; {question}" if question else "")


if __name__ == "__main__":
    sys.exit(main())
