"""One segment: a record file with its indexes, read, searched and scanned."""
