"""Bytes to objects and back: Kafka's wire protocol and record batches. No I/O, no clock."""
