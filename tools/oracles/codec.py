"""The interface of a foreign codec for comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tests.support.message_values import Plain
from tools.messages.schema import MessageSchema


@dataclass(frozen=True, slots=True)
class Case:
    """One value of one message in one version."""

    message: MessageSchema
    version: int
    value: Plain


@dataclass(frozen=True, slots=True)
class Refusal:
    """The foreign codec could not encode a value; its error message."""

    reason: str


class ForeignCodec(Protocol):
    letter: str  # in the table
    name: str

    def has(self, message: MessageSchema, version: int) -> bool: ...

    def fit(self, case: Case) -> Case:
        """The nearest value that this codec supports: some have fewer error codes, or a limited
        range of timestamps."""
        ...

    def encode_many(self, cases: Sequence[Case]) -> list[bytes | Refusal]: ...
