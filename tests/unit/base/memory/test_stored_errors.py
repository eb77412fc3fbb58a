from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from ottla.base.memory.stored_errors import raise_stored, without_traceback


class Large:
    """Something that a frame holds."""


def fails(large: Large) -> None:
    try:
        raise ValueError("bytes")
    except ValueError as error:
        raise RuntimeError(f"about {type(large).__name__}") from error


class Keeper:
    def __init__(self) -> None:
        self.kept: list[RuntimeError] = []

    def catch(self, large: Large) -> None:
        try:
            fails(large)
        except RuntimeError as error:
            self.kept.append(without_traceback(error))

    def report(self) -> None:
        raise_stored(self.kept)


@pytest.fixture
def _no_search_for_garbage() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_search_for_garbage")
def test_a_kept_error_lets_go_of_what_its_frames_held() -> None:
    keeper, large = Keeper(), Large()
    held = weakref.ref(large)
    keeper.catch(large)
    del large
    assert held() is None
    assert str(keeper.kept[0]) == "about Large"


@pytest.mark.usefixtures("_no_search_for_garbage")
def test_the_owner_of_a_stored_error_is_freed_once_it_was_raised() -> None:
    keeper = Keeper()
    keeper.catch(Large())
    seen = weakref.ref(keeper)
    with pytest.raises(RuntimeError) as raised:
        keeper.report()
    del keeper, raised
    assert seen() is None
