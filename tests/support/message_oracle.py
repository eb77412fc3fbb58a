"""Kafka's generated message classes, asked from Python: JSON to bytes, bytes to JSON.

The JSON is that of Kafka's `*JsonConverter` classes of the same version:

  names      camelCase as in the generated class: the schema's name with a small first letter
             (`TopicId` is "topicId", `PartitionMaxBytes` is "partitionMaxBytes").
  int8 ...   plain JSON numbers, signed (uint16, uint32 unsigned). On the way in an int8 of 128 to
  int64      256 is taken, wrongly, for one 128 lower: send int8 as -128 to 127.
  float64    a number with a point or exponent: 1.0, never 1. NaN and Infinity stand bare.
  bool       true, false.
  string     text; null where the version allows null.
  uuid       base64url without padding, 22 characters; the zero id is "AAAAAAAAAAAAAAAAAAAAAA".
  bytes      base64 with padding. `to_base64` and `from_base64` of `oracle.py` convert.
  records    base64 of the batches. (Kafka's converters write them as empty; the oracle puts the
             real bytes in, so that both directions agree.)
  array      a list. A collection with a map key drops an element that equals an earlier one
             on the way in, so send keys that differ.
  struct     an object; null where the version allows null.

  in         every field of the version must be there; a tagged field that is left out has its
             default. A field of another version may be there: encoding refuses it
             (`UnsupportedVersionException`) unless it has its default or is ignorable.
  out        every field of the version; a tagged one only where it differs from its default.
             Unknown tagged fields do not appear.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.support.oracle import Json, Oracle, Refused, from_base64, to_base64


@dataclass(frozen=True, slots=True)
class Decoded:
    json: Json
    unread_bytes: int  # what was left over after the message


@dataclass(frozen=True, slots=True)
class MessageClass:
    """A class that the oracle knows, and the first and last version that Kafka supports."""

    name: str
    lowest: int
    highest: int


class MessageOracle:
    """Classes go by their full name: `org.apache.kafka.common.message.FetchRequestData`."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def classes(self) -> list[MessageClass]:
        """Every message class of Kafka: requests, responses, headers, records of its own topics
        (coordinators, metadata, raft), `ProducerSnapshot` and the like."""
        return [
            MessageClass(found["class"], found["lowest"], found["highest"])
            for found in self._oracle.ask("message.classes")
        ]

    def encode_many(self, cases: Iterable[tuple[str, int, Json]]) -> list[bytes | Refused]:
        """The bytes for each (class, version, JSON), or why Kafka does not encode it."""
        questions = [
            {"op": "message.encode", "class": name, "version": version, "json": value}
            for name, version, value in cases
        ]
        return [
            answer if isinstance(answer, Refused) else from_base64(answer["bytes"]) or b""
            for answer in self._oracle.ask_many(questions)
        ]

    def decode_many(self, cases: Iterable[tuple[str, int, bytes]]) -> list[Decoded | Refused]:
        """The JSON for each (class, version, bytes), or why Kafka does not decode it."""
        questions = [
            {"op": "message.decode", "class": name, "version": version, "bytes": to_base64(data)}
            for name, version, data in cases
        ]
        return [
            answer if isinstance(answer, Refused) else Decoded(answer["json"], answer["unread"])
            for answer in self._oracle.ask_many(questions)
        ]

    def encode(self, class_name: str, version: int, value: Json) -> bytes:
        (answer,) = self.encode_many([(class_name, version, value)])
        if isinstance(answer, Refused):
            raise answer
        return answer

    def decode(self, class_name: str, version: int, data: bytes) -> Decoded:
        (answer,) = self.decode_many([(class_name, version, data)])
        if isinstance(answer, Refused):
            raise answer
        return answer
