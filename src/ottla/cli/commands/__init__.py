"""One module for each command: `<noun>/<verb>.py`, or `<verb>.py` for a command without a noun."""
