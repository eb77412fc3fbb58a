"""Reading ranges of offsets as record batches."""
