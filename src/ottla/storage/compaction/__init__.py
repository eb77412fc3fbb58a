"""Compaction keeps the newest record of each key, and removes tombstones after a delay."""
