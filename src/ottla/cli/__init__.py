"""The `ottla` command: `main.py` finds a command of `commands/`, the other folders are shared."""
