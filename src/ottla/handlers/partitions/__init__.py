"""What several requests about topics, partitions and their logs have in common."""
