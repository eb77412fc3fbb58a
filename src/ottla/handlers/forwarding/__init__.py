"""Requests that only the controller can decide, and that a client may send to any broker.

The broker that receives one passes its frame to the controller in an Envelope request, and the
frame of the response on to the client: `relay.py` at this end, `answering.py` at the controller.
"""
