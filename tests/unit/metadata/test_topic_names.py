from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.metadata.topic_names import check_name, fault_of_name, has_collision_characters
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError


@given(st.text(alphabet=st.sampled_from("ab./_-\0\n \\é~%"), max_size=12))
def test_a_name_that_is_allowed_never_leaves_its_directory(name: str) -> None:
    if fault_of_name(name) is None:
        path = posixpath.normpath(f"/data/{name}-0")
        assert posixpath.dirname(path) == "/data"
        assert path == f"/data/{name}-0"


PLAIN = st.text(alphabet="aB9._-", min_size=245, max_size=253)  # about as long as it may be


@given(st.text(max_size=300) | PLAIN)
def test_any_text_is_judged_without_surprise(name: str) -> None:
    fault = fault_of_name(name)
    is_plain = name.isascii() and all(c.isalnum() or c in "._-" for c in name)
    is_right = is_plain and 0 < len(name) <= 249 and name not in (".", "..")
    assert (fault is None) == is_right


def test_a_wrong_name_has_its_own_code() -> None:
    with pytest.raises(BrokerError, match="Topic name is invalid") as raised:
        check_name("a/b")
    assert raised.value.code is ErrorCode.INVALID_TOPIC_EXCEPTION


def test_only_dots_and_underscores_can_collide() -> None:
    assert has_collision_characters("a.b")
    assert has_collision_characters("a_b")
    assert not has_collision_characters("a-b")
