"""Requests, one file per API: authorise, validate, ask a part, answer."""
