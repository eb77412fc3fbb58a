"""Failures of a command as the user reads them: what happened, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

USAGE = 2  # exit code of a command that cannot be carried out as it was written


class CommandFailed(Exception):
    """Ends the command with a message instead of a traceback."""

    def __init__(self, message: str, *advice: str, code: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.code = code

    def __str__(self) -> str:
        return "\n".join([self.message, *(f"  {line}" for line in self.advice)])


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The names most similar to a misspelt one, as a question."""
    folded = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold(), folded, n=3, cutoff=0.6)
    return f"did you mean {' or '.join(folded[name] for name in near)}?" if near else None


def suggestions(word: str, known: Iterable[str]) -> list[str]:
    question = did_you_mean(word, known)
    return [] if question is None else [question]
