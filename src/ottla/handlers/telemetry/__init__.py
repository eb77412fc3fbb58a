"""Metrics that clients push to the broker (KIP-714): who is asked for what, and what came."""
