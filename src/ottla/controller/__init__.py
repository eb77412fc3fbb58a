"""The controller: decisions about topics, partitions, settings and brokers, as metadata records."""
