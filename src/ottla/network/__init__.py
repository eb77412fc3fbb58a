"""Sockets: frames in, responses out, in order, within bounds.

Frames are opaque here: a `Network` is given a `RequestServer` that serves them.
"""
