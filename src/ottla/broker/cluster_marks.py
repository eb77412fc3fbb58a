"""Marks in the log directories: the position of the metadata log that each has seen.

Promises  a mark is written after the metadata log, never ahead of it: within a second after the log
          has grown, at every clean shutdown, and when the log is lost while the broker runs. A
          directory that cannot be written to is skipped.
Threads   a job whose task was cancelled may still run at shutdown: one job runs at a time.
Leaves    comparing marks at the next start to `first_start.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from ottla.base.scheduling.steps import Driver
from ottla.broker.housekeeping import in_directory
from ottla.metadata.image import Image
from ottla.storage.directories.log_manager import LogManager

WRITE_INTERVAL_MS = 1_000


class ClusterMarks:
    def __init__(self, logs: LogManager, image: Image, driver: Driver) -> None:
        self._logs = logs
        self._driver = driver
        self._image = image
        self._written_offset = -1
        self._writing = threading.Lock()

    async def write(self) -> None:
        """Write the marks if the metadata has grown since the last time."""
        image, offset = self._image, self._image.offset
        if offset == self._written_offset:
            return
        jobs = self._logs.expected.mark_jobs(image.cluster_id, offset, image.controller_epoch)
        for directory, job in jobs:
            alone = partial(self._run_alone, job)
            await in_directory(self._driver, directory, "noting the metadata offset", alone)
        self._written_offset = offset

    def close(self) -> None:
        """As `write`, at shutdown: blocks."""
        image = self._image
        jobs = self._logs.expected.mark_jobs(image.cluster_id, image.offset, image.controller_epoch)
        for directory, job in jobs:
            try:
                self._run_alone(job)
            except OSError as error:
                directory.health.refused("noting the metadata offset", error)

    def _run_alone(self, job: Callable[[], object]) -> None:
        with self._writing:  # two jobs for a directory have the same temporary file
            job()
