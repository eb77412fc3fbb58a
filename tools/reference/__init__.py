"""Writes the reference pages from the declarations they describe."""
