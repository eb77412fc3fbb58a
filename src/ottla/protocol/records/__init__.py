"""Record batches (magic 2): header, checksum, records, compression, control records."""
