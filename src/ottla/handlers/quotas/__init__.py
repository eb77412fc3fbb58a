"""Quotas of clients: who pays, how much was used, how long to wait."""
