"""Topics, offsets, groups and transactions."""
