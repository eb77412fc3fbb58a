from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.storage.log_making import EVERYTHING, PATH, SMALL, Place, append_many, values_of

from ottla.base.files.readers import BLOCKING
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import LEADER_EPOCHS_NAME
from ottla.storage.log.leader_epochs import EpochEntry, LeaderEpochs
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint

FILE = f"{PATH}/{LEADER_EPOCHS_NAME}"
EPOCHS = ((1, 0), (4, 10), (5, 25), (12, 40))


def log_with_epochs(place: Place) -> Log:
    log = place.open()
    for (epoch, start), end in zip(EPOCHS, (10, 25, 40, 60), strict=True):
        append_many(log, end - start, epoch=epoch)
    return log


def reopened(place: Place, *, is_clean: bool = True) -> Log:
    return place.open(Checkpoint(60, 0, is_clean))


def test_epochs_are_read_again_from_their_file() -> None:
    place = Place()
    log_with_epochs(place).close()
    assert reopened(place).epochs.load(BLOCKING).entries == EPOCHS


@pytest.mark.parametrize("is_clean", [True, False])
def test_every_flipped_bit_of_the_file_is_put_right_by_the_records(is_clean: bool) -> None:
    place = Place(config=replace(SMALL, segment_bytes=2000))
    log_with_epochs(place).close()
    for position in range(place.disk.size(FILE)):
        place.disk.flip_bit(FILE, position, position % 8)
        log = reopened(place, is_clean=is_clean)
        assert log.epochs.load(BLOCKING).entries == EPOCHS, position
        assert len(values_of(log)) == 60
        log.release()


def test_a_lost_file_is_made_again() -> None:
    place = Place()
    log_with_epochs(place).close()
    place.disk.remove(FILE)
    assert reopened(place).epochs.load(BLOCKING).entries == EPOCHS


@pytest.mark.parametrize("count", range(4))
@pytest.mark.parametrize("is_clean", [True, False])
def test_an_older_copy_of_the_file_is_put_right_by_the_records(count: int, is_clean: bool) -> None:
    place = Place()
    log_with_epochs(place).close()
    older = LeaderEpochs(place.disk, FILE)
    older.assign_all(EpochEntry(*each) for each in EPOCHS[:count])
    assert reopened(place, is_clean=is_clean).epochs.load(BLOCKING).entries == EPOCHS


def test_a_batch_with_a_wrong_epoch_is_not_served_and_nothing_is_learned_from_it() -> None:
    place = Place(config=replace(SMALL, segment_bytes=10_000))
    log = log_with_epochs(place)
    position = log.read(BLOCKING, 30, 1, EVERYTHING).records.position
    log.close()
    place.disk.flip_bit(log.segments[0].path, position + 15, 3)
    log = reopened(place)
    assert log.epochs.load(BLOCKING).entries == EPOCHS
    found = log.read(BLOCKING, 30, 1, EVERYTHING)
    assert found.check is not None
    with pytest.raises(CorruptLogError):
        found.check.run()
    assert values_of(log, 31)[0] == b"31"


def test_an_epoch_without_records_is_forgotten() -> None:
    place = Place()
    log = log_with_epochs(place)
    log.epochs.announce(20)
    assert log.epochs.load(BLOCKING).latest_epoch == 20
    log.close()
    assert reopened(place).epochs.load(BLOCKING).entries == EPOCHS


def test_epochs_of_deleted_records_come_back_with_them() -> None:
    place = Place()
    log = log_with_epochs(place)
    log.advance_log_start(30)
    log.epochs.announce(13)
    assert log.epochs.load(BLOCKING).entries[0] == (5, 30)
    place.disk.kill()  # before the new start of the log was written down
    assert reopened(place, is_clean=False).epochs.load(BLOCKING).entries == EPOCHS


def test_a_single_batch_that_comes_back_brings_its_epoch_along() -> None:
    place = Place()
    log = place.open()
    append_many(log, 1, epoch=1)
    append_many(log, 30, epoch=2)
    log.advance_log_start(1)
    log.close()
    log = place.open(Checkpoint(31, 0, is_clean=True))  # without the new start of the log
    assert log.epochs.load(BLOCKING).entries == ((1, 0), (2, 1))
    assert len(values_of(log)) == 31
