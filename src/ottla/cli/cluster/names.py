"""Names and patterns of topics and groups, as commands are given them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from ottla.cli.errors import CommandFailed, suggestions


def matches_any(name: str, patterns: Collection[str]) -> bool:
    """True also if there are no patterns."""
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def report_unmatched(
    command: str, kind: str, patterns: Collection[str], listed: Collection[str]
) -> None:
    """Say on standard error why a list is empty, and which patterns matched nothing."""
    lines = [
        f"no {kind} matches {pattern or repr(pattern)}"
        for pattern in dict.fromkeys(patterns)
        if not any(fnmatchcase(name, pattern) for name in listed)
    ]
    if not patterns and not listed:
        lines = [f"there are no {kind}s"]
    for line in lines:
        print(f"{command}: {line}", file=sys.stderr)


def require_known(kind: str, names: Iterable[str], known: Collection[str], advice: str) -> None:
    """CommandFailed lists the names that are missing, with similar ones or else the advice."""
    missing = [name for name in names if name not in known]
    if missing:
        similar = [line for name in missing for line in suggestions(name, known)]
        if any("," in name for name in missing):
            similar.append("several are separated by spaces")
        raise CommandFailed(
            "\n".join(f"there is no {kind} {name or repr(name)}" for name in missing),
            *(similar or [advice]),
        )
