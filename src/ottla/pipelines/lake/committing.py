"""Committing a batch to a table, once, whatever else happens to the table meanwhile.

Owns      the loop: look at the table, decide, try, and look again if another commit came first.
Promises  when this returns, the files of the batch are part of the table, once. When it raises,
          the batch is not in the table, or it was decided and the next commit publishes its files:
          repeating the batch is right in both cases. Of two drivers with the same batch one
          commits, and the other finds that it was done.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from ottla.base.fault_points import PipelinePoint, reach
from ottla.pipelines.errors import BatchRefused, LakeUnavailable
from ottla.pipelines.lake.commit_plan import Step, next_manifest, plan_commit
from ottla.pipelines.lake.manifest import BATCH, LakeFile, Manifest
from ottla.pipelines.lake.ownership import check_owner
from ottla.pipelines.lake.table import LakeTable, chain, last_batch

TRIES_MAX = 50


def commit(table: LakeTable, wanted: Manifest, repairs: int = 0) -> Manifest:
    """The manifest that counts: this one, or that of an earlier attempt. A backfill gives the
    number of `repairs` that it has seen: two of them must not add the same rows."""
    for _ in range(TRIES_MAX):
        last, batch_manifest, done = _look(table, wanted, repairs)
        if done is not None:
            return done
        check_files(table, wanted)
        manifest = next_manifest(last, batch_manifest, wanted)
        manifest = replace(
            manifest,
            name=table.new_name(manifest.number),
            decided_ms=time.time_ns() // 1_000_000,
        )
        if table.commit(manifest):
            reach(PipelinePoint.DECIDED)
            table.finish(manifest)
            reach(PipelinePoint.COMMITTED)
            return manifest
    raise LakeUnavailable(
        f"{table.directory}: other commits came first {TRIES_MAX} times; try again"
    )


def commit_repair(table: LakeTable, wanted: Manifest, repairs: int) -> Manifest:
    """The files are removed if the commit is refused. After another failure, or Ctrl-C, they stay:
    it may have been decided, and then the next commit needs them."""
    try:
        return commit(table, wanted, repairs)
    except BatchRefused:
        remove_files(table, wanted.files)
        raise


def remove_files(table: LakeTable, files: Iterable[LakeFile]) -> None:
    """Files that were written and that no commit names."""
    for file in files:
        (Path(table.directory) / (file.staged or file.path)).unlink(missing_ok=True)


def check_files(table: LakeTable, wanted: Manifest) -> None:
    """LakeUnavailable if files are missing: readers of the table would fail. See `orphans.py`."""
    for file in wanted.files:
        path = Path(table.directory) / (file.staged or file.path)
        if not path.exists():
            raise LakeUnavailable(
                f"{path} was removed before its commit, because it was a day old or by another "
                "program: nothing was committed. It is written again when the batch or the "
                "command is repeated"
            )


def count_repairs(table: LakeTable) -> int:
    """Commits that read no new offsets."""
    return sum(each.kind != BATCH for each in chain(table))


def find_committed(table: LakeTable, wanted: Manifest) -> Manifest | None:
    """The commit of a batch, if it is in the table: a replayed batch needs no tasks then.
    BatchRefused if it can never be committed, so that nothing is written for it."""
    return _look(table, wanted)[2]


Newest = tuple[Manifest | None, Manifest | None, Manifest | None]


def _look(table: LakeTable, wanted: Manifest, repairs: int = 0) -> Newest:
    """The newest commit, the newest of new offsets, and that of the batch if it was done."""
    check_owner(table.owner(), wanted.pipeline, table.directory)
    last = table.last()
    batch_manifest = last_batch(table, last)
    now = 0 if wanted.kind == BATCH else count_repairs(table)
    if plan_commit(last, batch_manifest, wanted, (repairs, now), table.directory) is Step.COMMIT:
        return last, batch_manifest, None
    done = last if last is not None and last.identity == wanted.identity else batch_manifest
    assert done is not None
    return last, batch_manifest, done
