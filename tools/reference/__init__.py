"""Generates the reference pages from declarations."""
