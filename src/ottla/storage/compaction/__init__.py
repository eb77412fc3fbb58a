"""Compaction: of each key only the newest record is kept, and in the end not even a tombstone."""
