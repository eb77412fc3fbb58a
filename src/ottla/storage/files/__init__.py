"""Names, layouts and single files of a log directory: what the bytes are, not when they change."""
