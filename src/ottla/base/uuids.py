"""UUIDs as Kafka represents them: 16 raw bytes, and base64url without padding as text."""

import base64
import binascii
from uuid import uuid4

ZERO_UUID = bytes(16)


def random_uuid() -> bytes:
    """A random id whose text does not begin with a dash, which tools would parse as an option."""
    while (value := uuid4().bytes)[0] >> 2 == 62:  # 62 is "-" in base64url
        pass
    return value


def uuid_to_text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode("ascii").rstrip("=")


def uuid_from_text(text: str) -> bytes:
    """The inverse of `uuid_to_text`; ValueError unless it is exactly 22 base64url characters."""
    try:
        value = base64.b64decode(text + "==", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"not a base64url UUID: {text!r}") from error
    if len(text) != 22 or len(value) != 16:
        raise ValueError(f"not a base64url UUID of 22 characters: {text!r}")
    return value
