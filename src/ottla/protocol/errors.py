"""Errors of input, and the error that is reported to a peer.

MalformedMessage   a frame or message body that cannot be decoded.
TooManyItems       a message with more items than the decoder allows.
UnencodableValue   a value of ours that cannot be encoded.
InvalidBatch       a record batch that must not be stored; has the code for the producer.
BrokerError        any error that a peer can act on; has its code.
"""

from ottla.protocol.error_codes import ErrorCode

MESSAGE_CHARACTERS_MAX = 8000


class MalformedMessage(ValueError):
    """The bytes are not a valid message; the message says what was being read, and where."""


class TooManyItems(MalformedMessage):
    """The arrays of a message together have more items than the decoder allows."""


class UnencodableValue(ValueError):
    """A string too long, a number out of range, or invalid Unicode; names the message type."""


class BrokerError(Exception):
    """An error that the peer can act on. Its text may be longer than a response allows."""

    def __init__(self, code: ErrorCode, message: str = "") -> None:
        super().__init__(message or code.name)
        self.code = code
        is_long = len(message) > MESSAGE_CHARACTERS_MAX
        self.message = message[:MESSAGE_CHARACTERS_MAX] + "..." if is_long else message


class InvalidBatch(BrokerError):
    """A rejected record batch: CORRUPT_MESSAGE, INVALID_RECORD, INVALID_TIMESTAMP, ..."""
