"""Sums of records and of rows: what those who write tables and those who audit them compare."""
