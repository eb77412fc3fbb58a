from __future__ import annotations

import subprocess
import sys

import pytest

from ottla.cli.main import FoundCommand, find_command, unknown_option


def test_a_command_is_found_with_its_words() -> None:
    assert find_command(["topics", "list", "-i"]) == FoundCommand(
        ("topics", "list"), "list topics", ["-i"]
    )
    found = find_command(["topic", "list"])
    assert isinstance(found, FoundCommand)
    assert found.names == ("topics", "list")


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
