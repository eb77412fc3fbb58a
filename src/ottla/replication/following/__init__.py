"""Copying partitions from their leaders, with the Fetch API that consumers use."""
