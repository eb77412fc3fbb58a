"""Random damage to random layouts of the metadata files: it is either what a crash leaves, and then
repaired, or it is reported with its place, and nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest
from tests.unit.metadata.histories import histories
from tests.unit.metadata.test_file_log import fold, snapshot_frame

from ottla.base.files.filesystem import read_file
from ottla.metadata.codec import encode_records
from ottla.metadata.continuity import KnownState
from ottla.metadata.frame import (
    BATCH,
    HEADER_BYTES,
    SNAPSHOT,
    BadFrame,
    decode_frame,
    encode_frame,
    encode_parts,
    has_whole_frame,
)
from ottla.metadata.image import Batch, Image
from ottla.metadata.journal import CLEAN, open_journal, write_snapshot
from ottla.metadata.log import CorruptMetadataError, MetadataLost
from ottla.metadata.records import ClusterNamed, FeatureLevelSet
from ottla.testing.filesystem import MemoryDisk

PLACE = "/m"


@dataclass
class Layout:
    """A directory after some life: several journals, a snapshot that is as new as some of them."""

    disk: MemoryDisk
    batches: list[Batch]
    snapshot_offset: int
    is_clean: bool

    @property
    def files(self) -> dict[str, bytes]:
        names = self.disk.list_directory(PLACE)
        return {name: read_file(self.disk, f"{PLACE}/{name}") for name in names}

    @property
    def journals(self) -> list[str]:
        return sorted(name for name in self.files if name.endswith(".journal"))

    def is_replaced(self, name: str) -> bool:
        """Whether the snapshot stands for all of this journal."""
        later = [each for each in self.journals if each > name]
        return bool(later) and int(later[0][:20]) <= self.snapshot_offset

    def frame_starts(self, name: str) -> set[int]:
        """Where batches begin in a journal; other files are one piece."""
        starts, end = {0}, 0
        if name.endswith(".journal"):
            for each in self.batches:
                if each.base_offset >= int(name[:20]):
                    end += len(encode_frame(BATCH, each))
                    starts.add(end)
        return starts

    def open(self, known: KnownState) -> Image:
        journal, image = open_journal(self.disk, PLACE, known)
        journal.close(is_clean=False)
        return image


def layout_of(random: Random) -> Layout:
    disk = MemoryDisk()
    journal, image = open_journal(disk, PLACE, KnownState())
    batches, snapshot_offset = [], 0
    for each in histories(random, random.randint(1, 6)):
        journal.append(each)
        batches.append(each)
        image.apply(each)
        if random.random() < 0.4:
            journal.begin_next()
            if random.random() < 0.4:  # its step after that, the removal of older files, was lost
                write_snapshot(disk, PLACE, snapshot_frame(image), image.offset)
                snapshot_offset = image.offset
    is_clean = random.random() < 0.5
    journal.close(is_clean=is_clean)
    return Layout(disk, batches, snapshot_offset, is_clean)


def damaged(random: Random, layout: Layout, content: bytes) -> bytes:
    """The content of a file after damage by a disk, or by an editor."""
    next_frame = encode_frame(BATCH, Batch(layout.batches[-1].end_offset + 7, 9, ()))
    at = random.randrange(len(content)) if content else 0
    choices = [
        content + random.randbytes(random.randint(1, 40)),
        content + next_frame[: HEADER_BYTES - 1],
        content + next_frame,  # whole, but other batches are missing before it
    ]
    if content:
        flipped = bytearray(content)
        flipped[at] ^= 1 << random.randrange(8)
        choices += [bytes(flipped), content[:at], content[at:] if at else content + b"\0"]
    return random.choice(choices)


def damage(random: Random, layout: Layout) -> str:
    name = random.choice(list(layout.files))
    content = damaged(random, layout, layout.files[name])
    file = layout.disk.open(f"{PLACE}/{name}")
    file.truncate(0)
    file.write_at(0, content)
    file.close()
    return name


@pytest.mark.parametrize("magic", [BATCH, SNAPSHOT])
@pytest.mark.parametrize(("base_offset", "extra"), [(0, 1), (0, -1), (5, 2**31), (-1, 0)])
def test_a_frame_whose_numbers_contradict_it_is_refused_though_its_checksum_is_right(
    magic: bytes, base_offset: int, extra: int
) -> None:
    records = (ClusterNamed("c"), FeatureLevelSet("x", 1))
    count = len(records) + extra
    frame = encode_parts(magic, Batch(base_offset, 1, ()), encode_records(records), count)
    with pytest.raises(BadFrame):
        decode_frame(magic, memoryview(frame))
    assert not has_whole_frame(magic, memoryview(b"before" + frame))
    right = encode_parts(magic, Batch(5, 1, ()), encode_records(records), len(records))
    assert decode_frame(magic, memoryview(right + b"after")) == (Batch(5, 1, records), len(right))


@pytest.mark.parametrize("is_clean", [False, True])
def test_what_a_crash_left_unfinished_goes_and_files_of_others_stay(is_clean: bool) -> None:
    random = Random(3)
    layout = layout_of(random)
    journal, _ = open_journal(layout.disk, PLACE, KnownState())
    journal.close(is_clean=is_clean)
    for name in ("00000000000000000009.snapshot.tmp", "clean.tmp", "notes", "x.tmp.txt"):
        layout.disk.open(f"{PLACE}/{name}", create=True).write_at(0, b"half a file")
    assert layout.open(KnownState()) == fold(layout.batches)
    assert {"notes", "x.tmp.txt"} <= layout.files.keys()
    assert not [name for name in layout.files if name.endswith(".tmp")]


def outcome_of(layout: Layout) -> tuple[Image, None] | tuple[None, CorruptMetadataError]:
    try:
        return layout.open(KnownState()), None
    except CorruptMetadataError as error:
        return None, error


@pytest.mark.parametrize("seed", range(20))
def test_damage_is_repaired_only_where_a_crash_may_have_left_it(seed: int) -> None:
    random = Random(seed)
    for _ in range(12):
        layout = layout_of(random)
        name = damage(random, layout)
        before = layout.files
        is_newest_snapshot = name == f"{layout.snapshot_offset:020}.snapshot"
        is_old = layout.is_replaced(name) or (name.endswith("snapshot") and not is_newest_snapshot)
        may_be_torn = name == layout.journals[-1] and not layout.is_clean
        is_note = name == CLEAN  # one that names an earlier end does no harm
        image, error = outcome_of(layout)
        if error is not None:
            assert not is_old
            assert layout.files == before
            assert error.location in {f"{PLACE}/{each}" for each in before}
            assert error.position in layout.frame_starts(error.location.removeprefix(f"{PLACE}/"))
        else:
            assert is_old or may_be_torn or is_note
            whole = fold(layout.batches)
            prefixes = [fold(layout.batches[:end]) for end in range(len(layout.batches) + 1)]
            assert image in prefixes if may_be_torn else image == whole
            assert image is not None
            assert layout.open(KnownState.of(image)) == image, "what was found stays"


@pytest.mark.parametrize("seed", range(5))
def test_what_is_known_is_there_or_nothing_is_changed_whatever_is_damaged(seed: int) -> None:
    random = Random(seed)
    for _ in range(12):
        layout = layout_of(random)
        damage(random, layout)
        before, whole = layout.files, fold(layout.batches)
        try:
            assert layout.open(KnownState.of(whole)) == whole
        except (CorruptMetadataError, MetadataLost):
            assert layout.files == before
