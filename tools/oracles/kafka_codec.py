"""K: Apache Kafka's own message classes, in a JVM. They have every message and version."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from tests.support.message_oracle import MessageOracle
from tests.support.message_values import Plain
from tests.support.oracle import Oracle, Refused, to_base64
from tools.messages.schema import FieldSchema, MessageSchema, StructSchema
from tools.oracles.codec import Case, Refusal

from ottla.base.uuids import uuid_to_text


class KafkaCodec:
    letter = "K"
    name = "Apache Kafka's classes"

    def __init__(self, oracle: Oracle) -> None:
        self.messages = MessageOracle(oracle)

    @cached_property
    def _classes(self) -> dict[str, str]:
        """Full names by short name: requests, responses and the like end in `Data`."""
        return {found.name.rpartition(".")[2]: found.name for found in self.messages.classes()}

    def class_of(self, message: MessageSchema) -> str:
        return self._classes.get(message.name) or self._classes[f"{message.name}Data"]

    def has(self, message: MessageSchema, version: int) -> bool:  # noqa: ARG002
        return True  # a missing one must be reported as a failure, not as an empty cell

    def fit(self, case: Case) -> Case:
        return case

    def encode_many(self, cases: Sequence[Case]) -> list[bytes | Refusal]:
        answers = self.messages.encode_many(
            (self.class_of(case.message), case.version, to_json(case.message, case.value))
            for case in cases
        )
        return [Refusal(str(each)) if isinstance(each, Refused) else each for each in answers]


def java_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def to_json(message: MessageSchema, value: Plain) -> dict[str, Any]:
    """A plain value as the JSON of Kafka's converters."""

    def convert(struct: StructSchema, plain: Plain) -> dict[str, Any]:
        fields = {f.name: f for f in struct.fields}
        return {java_name(name): field(fields[name], item) for name, item in plain.items()}

    def field(about: FieldSchema, item: Any) -> Any:
        if item is None:
            return None
        return [one(about, each) for each in item] if about.is_array else one(about, item)

    def one(about: FieldSchema, item: Any) -> Any:
        if about.is_struct:
            return convert(message.structs[about.type], item)
        match about.type:
            case "uuid":
                return uuid_to_text(item)
            case "bytes" | "records":
                return to_base64(item)
        return item

    return convert(message.root, value)
