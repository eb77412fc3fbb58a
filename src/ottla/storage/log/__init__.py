"""One partition's log, and everything that can happen to it."""
