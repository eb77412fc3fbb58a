"""Whether a batch may be committed: pure rules, the same for every format.

Promises  a batch that was committed with the same offsets is not committed again; one that has
          others, or does not continue where the table ends, is refused, with topic, partition and
          offsets. So is a later batch than the first if the table has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from ottla.pipelines.errors import BatchRefused
from ottla.pipelines.lake.manifest import BATCH, Manifest, Offsets
from ottla.pipelines.lake.ownership import check_owner


class Step(Enum):
    COMMIT = "commit"
    DONE = "done"  # by an earlier attempt, or by another driver


def plan_commit(
    last: Manifest | None,
    batch_manifest: Manifest | None,
    wanted: Manifest,
    repairs: tuple[int, int] = (0, 0),
    where: str = "",
) -> Step:
    """`last` is the newest commit of the table, `batch_manifest` the newest that read new offsets
    (`last` may be a backfill). `repairs` is the number of commits that were no batches: when a
    backfill read the table, and now."""
    if last is not None:
        check_owner(last.pipeline, wanted.pipeline, where)
        if last.identity == wanted.identity:
            return _done(last, wanted)
    if wanted.kind != BATCH and repairs[0] != repairs[1]:
        raise BatchRefused(
            f"{wanted.pipeline}: another {wanted.kind} has changed the table meanwhile: nothing "
            "was written. Run the command again"
        )
    if wanted.kind != BATCH:
        return Step.COMMIT
    if batch_manifest is None:
        if wanted.batch > 0:
            raise table_without_commits(wanted.pipeline, where)
        return Step.COMMIT
    if batch_manifest.identity == wanted.identity:
        return _done(batch_manifest, wanted)
    if batch_manifest.query == wanted.query and batch_manifest.batch > wanted.batch:
        raise BatchRefused(
            f"{wanted.pipeline}: the table holds batch {batch_manifest.batch} of this query, and "
            f"batch {wanted.batch} is older: the checkpoint was restored from a copy. Delete the "
            "state of the pipeline: a new query continues where the table ends."
        )
    _check_continues(batch_manifest.ends, wanted)
    return Step.COMMIT


def table_without_commits(pipeline: str, where: str) -> BatchRefused:
    """Every batch is a commit, also one without rows: those of before are not there."""
    return BatchRefused(
        f"{where}: the table has no commit, and {pipeline} has written batches before: what they "
        "wrote is not there. The table was removed or emptied, its file system is not mounted, or "
        "`lake` names another directory than before. Restore the table; or delete the state of "
        "the pipeline: a new query writes all that the topics still have."
    )


def _done(found: Manifest, wanted: Manifest) -> Step:
    """BatchRefused if the batch has other offsets: Spark plans a batch again that is not in its
    checkpoint, and the offsets in between would be skipped or repeated."""
    ends = {
        topic_id: {each: found.ends.get(topic_id, {}).get(each) for each in partitions}
        for topic_id, partitions in wanted.ends.items()
    }
    is_same = found.starts == wanted.starts and ends == wanted.ends
    if wanted.kind == BATCH and not is_same:
        names = {topic_id: name for name, topic_id in wanted.topics.items()}
        raise BatchRefused(
            f"{wanted.pipeline}: the table holds batch {wanted.batch} of this query with "
            f"{_ranges_text(found.starts, found.ends, names)}, and the checkpoint plans it with "
            f"{_ranges_text(wanted.starts, wanted.ends, names)}: the checkpoint was restored from "
            "a copy. Delete the state of the pipeline: a new query continues where the table ends."
        )
    return Step.DONE


def _ranges_text(starts: Offsets, ends: Offsets, names: Mapping[str, str]) -> str:
    return ", ".join(
        f"{names.get(topic_id, topic_id)}-{partition} from {start} to "
        f"{ends.get(topic_id, {}).get(partition)}"
        for topic_id, partitions in starts.items()
        for partition, start in partitions.items()
    )


def _check_continues(ends: Offsets, wanted: Manifest) -> None:
    names = {topic_id: name for name, topic_id in wanted.topics.items()}
    for topic_id, partitions in wanted.starts.items():
        for partition, start in partitions.items():
            end = ends.get(topic_id, {}).get(partition, start)
            if end != start:
                what = "would be missing" if start > end else "are in the table already"
                low, high = sorted((start, end))
                raise BatchRefused(
                    f"{wanted.pipeline}: batch {wanted.batch} of topic "
                    f"{names.get(topic_id, topic_id)}, partition {partition} begins at offset "
                    f"{start}, and the table ends at {end}: offsets {low} to {high - 1} {what}. "
                    "Another run of this pipeline with another state has written the table. "
                    "Delete the state of this one: a new query continues where the table ends."
                )


def next_manifest(
    last: Manifest | None, batch_manifest: Manifest | None, wanted: Manifest
) -> Manifest:
    """The manifest with its number, and the ends and times of what was committed before."""
    before = {} if batch_manifest is None else batch_manifest.ends
    known = (None if batch_manifest is None else batch_manifest.newest_ms, wanted.newest_ms)
    times = [each for each in known if each is not None]
    return replace(
        wanted,
        number=0 if last is None else last.number + 1,
        previous=None if last is None else last.name,
        ends=merged(before, wanted.ends) if wanted.kind == BATCH else before,
        newest_ms=max(times, default=None),
    )


def merged(before: Offsets, after: Offsets) -> dict[str, Mapping[str, int]]:
    ids = before.keys() | after.keys()
    return {each: {**before.get(each, {}), **after.get(each, {})} for each in sorted(ids)}
