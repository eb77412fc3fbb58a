"""One broker's files: partition logs in Kafka's on-disk layout."""
