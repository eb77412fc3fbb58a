"""The ways in which input can be wrong, and the one way a peer is told.

MalformedMessage   a frame or message body that cannot be what it claims.
TooManyItems       a message with more items than the decoder was allowed to read.
UnencodableValue   the other way round: a value of ours that no bytes of the wire can carry.
InvalidBatch       a record batch that must not be stored; carries the code the producer gets.
BrokerError        anything a peer can act on; carries the code it gets.
"""

from ottla.protocol.error_codes import ErrorCode

MESSAGE_CHARACTERS_MAX = 8000


class MalformedMessage(ValueError):
    """Bytes that are no valid message: says what was being read and where."""


class TooManyItems(MalformedMessage):
    """The arrays of a message have more items, together, than its reader allows."""


class UnencodableValue(ValueError):
    """A string too long, a number out of range, text that is no Unicode: says in which message."""


class BrokerError(Exception):
    """Trouble that the peer can act on. What it quotes may be longer than an answer can carry."""

    def __init__(self, code: ErrorCode, message: str = "") -> None:
        super().__init__(message or code.name)
        self.code = code
        is_long = len(message) > MESSAGE_CHARACTERS_MAX
        self.message = message[:MESSAGE_CHARACTERS_MAX] + "..." if is_long else message


class InvalidBatch(BrokerError):
    """A record batch that is refused: CORRUPT_MESSAGE, INVALID_RECORD, INVALID_TIMESTAMP, ..."""
