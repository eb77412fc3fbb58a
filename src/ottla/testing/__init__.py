"""Doubles that can fail: a disk, a network and a clock for tests."""
