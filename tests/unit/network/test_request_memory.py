"""The bound on request memory holds, and readers are woken when there is room."""

from ottla.network.request_memory import READ_BYTES, RequestMemory

MIB = 1024 * 1024


class Reader:
    def __init__(self) -> None:
        self.woken = 0

    def resume_after_memory(self) -> None:
        self.woken += 1


def test_readers_go_on_below_the_bound() -> None:
    memory = RequestMemory(MIB)
    memory.change(held=MIB - 1, complete=0)
    assert memory.may_read(Reader())


def test_a_reader_at_the_bound_is_stopped_and_woken_when_others_release() -> None:
    memory, reader = RequestMemory(MIB), Reader()
    memory.change(held=MIB, complete=MIB)
    assert not memory.may_read(reader)
    memory.change(held=-MIB, complete=-MIB)
    assert reader.woken == 1
    assert memory.may_read(reader)


def test_no_more_readers_are_woken_than_there_is_room_for() -> None:
    memory, readers = RequestMemory(MIB), [Reader() for _ in range(10)]
    memory.change(held=2 * MIB, complete=2 * MIB)
    for reader in readers:
        assert not memory.may_read(reader)
    memory.change(held=-MIB - 2 * READ_BYTES, complete=-MIB)
    assert [reader.woken for reader in readers] == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_with_incomplete_frames_alone_one_reader_goes_on_until_its_frame_is_whole() -> None:
    memory, first, second = RequestMemory(MIB), Reader(), Reader()
    memory.change(held=MIB, complete=0)
    assert memory.may_read(first)
    assert not memory.may_read(second)
    memory.change(held=READ_BYTES, complete=0)
    assert memory.may_read(first)
    memory.leave(first)  # its frame is whole, and is served
    assert second.woken == 1
    assert memory.may_read(second)


def test_when_the_last_complete_frame_is_done_somebody_is_woken() -> None:
    memory, reader = RequestMemory(MIB), Reader()
    memory.change(held=3 * MIB, complete=10)
    assert not memory.may_read(reader)
    memory.change(held=-10, complete=-10)
    assert reader.woken == 1
    assert memory.may_read(reader)


def test_a_reader_that_left_is_not_woken() -> None:
    memory, gone, favoured = RequestMemory(MIB), Reader(), Reader()
    memory.change(held=MIB, complete=0)
    assert memory.may_read(favoured)
    assert not memory.may_read(gone)
    memory.leave(gone)
    memory.leave(favoured)
    assert gone.woken == 0
    assert memory.stopped_readers == 0
