"""Sockets: frames in, answers out, in order, within bounds.

Knows frames and nothing of what is in them; whoever builds a `Network` hands it a `RequestServer`.
"""
