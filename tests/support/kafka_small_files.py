"""The small files of a log directory as Kafka's own classes read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.oracle import Oracle

from ottla.base.uuids import uuid_from_text


@dataclass(frozen=True, slots=True)
class JavaMetaProperties:
    version: int
    cluster_id: str | None = None
    node_id: int | None = None
    directory_id: str | None = None


class KafkaSmallFiles:
    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def offset_checkpoint(self, path: Path) -> dict[tuple[str, int], int]:
        answer = self._oracle.ask("file.offset_checkpoint", path=str(path))
        return {(topic, partition): offset for topic, partition, offset in answer}

    def leader_epochs(self, path: Path) -> list[tuple[int, int]]:
        answer = self._oracle.ask("file.leader_epochs", path=str(path))
        return [(epoch, start_offset) for epoch, start_offset in answer]

    def topic_id(self, path: Path) -> bytes:
        answer = self._oracle.ask("file.partition_metadata", path=str(path))
        return uuid_from_text(answer["topic_id"])

    def meta_properties(self, path: Path) -> JavaMetaProperties:
        return JavaMetaProperties(**self._oracle.ask("file.meta_properties", path=str(path)))

    def clean_shutdown_epoch(self, path: Path) -> int | None:
        """The broker epoch that the marker names; None without one, or without a marker."""
        answer = self._oracle.ask("file.clean_shutdown", path=str(path))
        epoch: int | None = answer.get("broker_epoch")
        return epoch if answer["exists"] else None
