"""The cluster as the client knows it, and requests that are sent to the right broker."""
