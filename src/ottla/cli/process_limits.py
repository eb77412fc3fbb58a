"""What the operating system lets one process have."""

from __future__ import annotations

import resource


def raise_open_files_limit() -> int:
    """Ask for all the descriptors that may be had: a broker holds one a segment and a connection.

    Systems start programs with a low limit (often 1024) for the sake of old ones that use
    `select`, and leave it to the others to raise it. Returns the limit that holds now.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS names a hard limit that it does not grant
        return soft
    return hard
