"""Builds the parts of a broker, owns them and connects them."""
