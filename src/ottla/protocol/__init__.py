"""Encoding and decoding of Kafka's wire protocol and record batches. No I/O, no clock."""
