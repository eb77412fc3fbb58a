"""The limit on open files of this process."""

from __future__ import annotations

import resource


def raise_open_files_limit() -> int:
    """Raise the soft limit to the hard limit: segments and connections need a descriptor each.

    The default soft limit is low (often 1024) for programs that use `select`. Returns the limit
    in effect.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS reports a hard limit that it does not grant
        return soft
    return hard
