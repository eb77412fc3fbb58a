from __future__ import annotations

import argparse
import errno
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.cli.command_table import COMMANDS
from ottla.cli.main import Found, Known, find_command, main, unknown_option
from ottla.cli.process import Terminated


def every_command(
    known: Known = COMMANDS, names: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    for name, about in known.items():
        if isinstance(about, str):
            yield (*names, name)
        else:
            yield from every_command(about, (*names, name))


@pytest.mark.parametrize("names", list(every_command()), ids=" ".join)
def test_every_command_explains_itself(
    names: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*names, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: ottla {' '.join(names)} ")
    assert importlib.import_module(".".join(("ottla.cli.commands", *names))).__doc__


def test_a_command_is_found_with_its_words() -> None:
    assert find_command(["topics", "list", "-i"]) == Found(
        ("topics", "list"), "list topics", ["-i"]
    )
    found = find_command(["topic", "list"])
    assert isinstance(found, Found)
    assert found.names == ("topics", "list")


@pytest.mark.parametrize("words", [[], ["-h"], ["--help"], ["help"], ["topics", "--help"]])
def test_help_lists_what_there_is(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert "describe" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["topcs"], "no command 'topcs'; did you mean topics?"),
        (["topics", "creat"], "no command 'topics creat'; did you mean create?"),
        (["create", "topic"], "no command 'create'; did you mean topics create?"),
        (["--format", "json", "topics", "list"], "ottla: the command comes first, then --format"),
        (["frobnicate"], "no command 'frobnicate'\n"),
        (["topics"], "usage: ottla topics VERB"),
        (["topics", "-b", "x:1", "list"], "ottla topics: the verb comes first, then -b"),
    ],
)
def test_a_command_that_is_not_there_is_refused_with_those_there_are(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    told = capsys.readouterr().err
    assert reason in told
    assert "usage: ottla" in told


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--lisen", "x"], "there is no option --lisen; did you mean --listen?"),
        (["--lisen=x"], "there is no option --lisen; did you mean --listen?"),
        (["--nonsense"], "there is no option --nonsense"),
        (["--listen", "x", "-z", "--", "--nonsense"], None),
        (["--data", "--in a name"], None),
    ],
)
def test_an_option_that_is_not_there_is_named_with_the_nearest(
    words: list[str], problem: str | None
) -> None:
    assert unknown_option(words, ["-h", "--listen", "--data"]) == problem


def test_a_wrong_option_is_told_before_a_missing_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["groups", "reset", "g", "--shift", "3"])
    assert ended.value.code == 2
    assert "there is no option --shift; did you mean --shift-by?" in capsys.readouterr().err


def test_looking_for_help_loads_next_to_nothing() -> None:
    """So that it comes at once: no parser, no client library, no broker."""
    code = (
        "import sys; from ottla.cli.main import main; main(['--help']);"
        "print(sorted(name for name in sys.modules if name.startswith('ottla.')"
        " or name in ('argparse', 'asyncio', 'confluent_kafka')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        done.stdout.splitlines()[-1] == "['ottla.cli', 'ottla.cli.command_table', 'ottla.cli.main']"
    )


def test_output_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        told = subprocess.run(
            [sys.executable, "-m", "ottla.cli.main", "version"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
    assert told.stderr == "ottla version: the output cannot be written: No space left on device\n"
    assert told.returncode == 1


def test_a_full_disk_of_the_commands_own_is_not_taken_for_the_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(_arguments: argparse.Namespace) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("ottla.cli.commands.version.run", full)
    with pytest.raises(OSError, match="No space left"):
        main(["version"])


def test_an_interruption_inside_the_client_library_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of its functions raise SystemError then, with the interruption as its cause."""

    def interrupted(_arguments: argparse.Namespace) -> int:
        raise SystemError("returned a result with an exception set") from Terminated(15)

    monkeypatch.setattr("ottla.cli.commands.version.run", interrupted)
    assert main(["version"]) == 143


def test_an_error_of_the_code_that_was_interrupted_is_an_interruption(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """argparse fails in this way if Ctrl-C comes while it parses."""

    def interrupted(_arguments: argparse.Namespace) -> int:
        try:
            raise KeyboardInterrupt
        finally:
            raise AttributeError("save_nargs")

    monkeypatch.setattr("ottla.cli.commands.version.run", interrupted)
    assert main(["version"]) == 130
