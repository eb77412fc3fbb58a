"""Verifies that loaded metadata is not older than what this broker has seen.

Owns      the rule for every MetadataLog implementation: a log that is shorter, of another cluster
          or of an earlier controller epoch is not used, and one that cannot be loaded is never
          treated as empty. The process ends instead.
Promises  MetadataLost is raised before anything is changed, in the log or on any other disk.
Leaves    where the expected state comes from: the published image, or marks in log directories.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from ottla.metadata.image import Image
from ottla.metadata.log import MetadataLog, MetadataLost
from ottla.storage.files.directory_health import is_full


class KnownState(NamedTuple):
    """The minimum content of a metadata log. Without arguments, any log is accepted."""

    cluster_id: str = ""  # empty for any cluster
    offset: int = 0
    controller_epoch: int = 0
    source: str = "this broker"  # for messages

    @classmethod
    def of(cls, image: Image) -> Self:
        return cls(image.cluster_id, image.offset, image.controller_epoch)

    def check(self, image: Image, location: str) -> None:
        """MetadataLost if the image, loaded from `location`, is older or of another cluster."""
        fault = self._fault(image)
        if fault is not None:
            raise MetadataLost(location, fault)

    def _fault(self, image: Image) -> str | None:
        if image.offset == 0 < self.offset:
            return f"it is missing or empty, but {self.source} has seen its offset {self.offset}"
        if self.cluster_id and image.cluster_id not in ("", self.cluster_id):
            return (
                f"it belongs to cluster {image.cluster_id}, "
                f"but {self.source} belongs to cluster {self.cluster_id}"
            )
        if image.offset < self.offset:
            return (
                f"it ends at offset {image.offset}, "
                f"but {self.source} has seen its offset {self.offset}: this is an older copy"
            )
        if image.controller_epoch < self.controller_epoch:
            return (
                f"its controller epoch is {image.controller_epoch}, "
                f"but {self.source} has seen {self.controller_epoch}: this is another copy"
            )
        return None


async def load_known(log: MetadataLog, known: KnownState) -> Image:
    """Load a metadata log that must contain the known state. MetadataLost if it does not, or if
    it cannot be read; OSError if the disk is full."""
    try:
        image = await log.load(known)
    except OSError as error:
        if is_full(error):
            raise
        raise MetadataLost(log.location, f"it cannot be loaded: {error}") from error
    known.check(image, log.location)  # in case the implementation did not check
    return image
