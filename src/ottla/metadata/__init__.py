"""Cluster metadata: a log of records, and the image that results from applying them."""
