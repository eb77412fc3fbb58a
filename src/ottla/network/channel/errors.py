"""Why a request to another broker has no response."""

from __future__ import annotations


class ChannelError(Exception):
    """Base of the errors below; the message names the broker and the reason."""


class BrokerUnreachable(ChannelError):
    """The request was not sent. Sending it again cannot do anything twice."""


class ConnectionRefused(BrokerUnreachable):
    """Nothing listens on the port: the process of that broker has ended."""


class ResponseLost(ChannelError):
    """The request was sent, and may have been served: the connection was lost, or the deadline
    has passed."""


class UnsupportedRequest(ChannelError):
    """The other broker has no version of this API in common with ours."""
