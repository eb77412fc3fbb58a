"""Which logs are being cleaned, must not be cleaned, or cannot be.

Owns      three sets of partitions, and the rule that a log is in one round at a time.
Promises  a paused log is not chosen; if a log is paused while it is being cleaned, its round is
          cancelled.
Leaves    stopping the helper process to the caller that runs the round.
"""

from __future__ import annotations

from collections import Counter

from ottla.base.ids import TopicPartition


class CleaningStates:
    def __init__(self) -> None:
        self._in_progress: set[TopicPartition] = set()
        self._called_off: set[TopicPartition] = set()
        self._pauses: Counter[TopicPartition] = Counter()
        self._uncleanable: dict[TopicPartition, str] = {}

    @property
    def uncleanable(self) -> dict[TopicPartition, str]:
        """The partitions that cannot be cleaned, and the reasons."""
        return dict(self._uncleanable)

    def can_begin(self, partition: TopicPartition) -> bool:
        return (
            partition not in self._in_progress
            and not self._pauses[partition]
            and partition not in self._uncleanable
        )

    def begin(self, partition: TopicPartition) -> None:
        assert self.can_begin(partition), f"{partition} cannot be cleaned now"
        self._in_progress.add(partition)

    def end(self, partition: TopicPartition) -> None:
        self._in_progress.discard(partition)
        self._called_off.discard(partition)

    def is_called_off(self, partition: TopicPartition) -> bool:
        return partition in self._called_off

    def call_off(self, partition: TopicPartition) -> None:
        """A round in progress must change nothing more; the next one may begin immediately."""
        if partition in self._in_progress:
            self._called_off.add(partition)

    def pause(self, partition: TopicPartition) -> None:
        """No rounds until as many calls of `resume`: the log is being moved, truncated or
        deleted."""
        self._pauses[partition] += 1
        self.call_off(partition)

    def resume(self, partition: TopicPartition) -> None:
        assert self._pauses[partition] > 0, f"{partition} is not paused"
        self._pauses[partition] -= 1
        if not self._pauses[partition]:
            del self._pauses[partition]

    def mark_uncleanable(self, partition: TopicPartition, reason: str) -> None:
        self._uncleanable[partition] = reason

    def forget(self, partition: TopicPartition) -> None:
        """The log was removed: another one may get its name."""
        self.call_off(partition)
        self._pauses.pop(partition, None)
        self._uncleanable.pop(partition, None)
