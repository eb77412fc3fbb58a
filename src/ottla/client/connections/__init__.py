"""Connections to brokers: sockets, requests and responses."""
