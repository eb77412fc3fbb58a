"""Writing record batches, each once and in order."""
