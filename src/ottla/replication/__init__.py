"""Partitions on this broker: leadership, high watermark, fetch sessions and waiting requests."""
