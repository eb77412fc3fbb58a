from __future__ import annotations

import json
import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.metadata.histories import histories

from ottla.base.ids import TopicId
from ottla.metadata.codec import (
    RESERVED_KINDS,
    VERSIONS,
    MalformedRecord,
    UnknownRecord,
    decode_records,
)
from ottla.metadata.codec import encode_records as encode
from ottla.metadata.records import (
    ALL_BROKERS,
    ConfigChanged,
    PartitionChanged,
    PartitionCreated,
    QuotaChanged,
    Record,
    TopicCreated,
)

ID = TopicId(bytes(range(16)))


@given(st.integers(0, 2**32))
def test_records_come_back_as_they_were(seed: int) -> None:
    records = [record for batch in histories(Random(seed), 12) for record in batch.records]
    assert decode_records(encode(records)) == records


@given(st.integers(0, 2**32))
def test_the_same_records_give_the_same_ascii_bytes(seed: int) -> None:
    one, other = (
        encode([record for batch in histories(Random(seed), 5) for record in batch.records])
        for _ in range(2)
    )
    assert one == other
    assert one.isascii()


def test_a_record_is_small_and_can_be_read_by_a_person() -> None:
    record = PartitionChanged(ID, 3, 8, in_sync_replicas=(1, 2))
    assert encode([record]) == (
        b'[{"k":"~partition","t":"AAECAwQFBgcICQoLDA0ODw","p":3,"pe":8,"isr":[1,2]}]'
    )


def test_fields_with_their_default_are_left_out_and_come_back() -> None:
    record = PartitionCreated(ID, 0, (1,), (1,), 1)
    assert b"elr" not in encode([record])
    assert decode_records(encode([record])) == [record]


def test_a_removal_differs_from_an_absent_value() -> None:
    records: list[Record] = [
        ConfigChanged(ALL_BROKERS, "a", None),
        QuotaChanged((("user", None),), "k", None),
    ]
    assert decode_records(encode(records)) == records


def test_a_limit_without_end_comes_back() -> None:
    record = QuotaChanged((("user", "u"),), "request_percentage", float("inf"))
    assert decode_records(encode([record])) == [record]


def test_what_json_has_no_number_for_is_not_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode([QuotaChanged((("user", None),), "a", math.nan)])


def test_fields_that_are_not_known_are_skipped() -> None:
    content = json.loads(encode([TopicCreated(ID, "t")]))
    content[0]["colour"] = {"deep": [1]}
    assert decode_records(json.dumps(content).encode()) == [TopicCreated(ID, "t")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no list of records"),
        ("{}", "no list of records"),
        ("[", "no list of records"),
        ("[" * 100_000, "no list of records"),
        ("[5]", "record 0: unknown kind 'None'"),
        ('[{"k":"other"}]', "record 0: unknown kind 'other'"),
        ('[{"k":["topic"]}]', "record 0: unknown kind"),
        ('[{"k":"topic","v":1,"n":"t"}]', "record 0: topic of unknown version 1"),
        ('[{"k":"topic","v":-1,"n":"t"}]', "record 0: topic of unknown version -1"),
        ('[{"k":"topic","v":"0","n":"t"}]', "record 0: topic of unknown version 0"),
        ('[{"k":"topic","n":"t"}]', "record 0: topic without topic_id"),
        ('[{"k":"topic","t":"x","n":"t"}]', "record 0: topic_id of topic: not a base64url UUID"),
        ('[{"k":"-topic","t":5}]', "record 0: topic_id of -topic: expected a text"),
        ('[{"k":"feature","n":"a","l":true}]', "record 0: level of feature: expected a whole"),
        ('[{"k":"feature","n":"a","l":1},{"k":"feature","n":1}]', "record 1: name of feature"),
        ('[{"k":"config","of":[3,"x"],"n":"a","v_":null}]', "resource of config: 3 is not a valid"),
        ('[{"k":"config","of":[2],"n":"a","v_":null}]', "resource of config"),
        ('[{"k":"quota","of":[["user"]],"n":"a","v_":1}]', "entity of quota"),
        ('[{"k":"quota","of":[],"n":"a","v_":"1"}]', "value of quota: expected a number"),
        ('[{"k":"partition","t":"AAECAwQFBgcICQoLDA0ODw","p":0,"r":[1,"2"]}]', "replicas of part"),
        ('[{"k":"broker","b":1,"be":1,"inc":"AAECAwQFBgcICQoLDA0ODw","ep":[[1]]}]', "endpoints of"),
        ('[{"k":"~broker","b":1,"be":1,"fenced":1}]', "is_fenced of ~broker: expected true"),
    ],
)
def test_what_is_no_record_is_refused_with_its_number_and_field(text: str, what: str) -> None:
    with pytest.raises(MalformedRecord) as raised:
        decode_records(text.encode())
    assert what in str(raised.value)


@pytest.mark.parametrize("text", ['[{"k":"hologram"}]', '[{"k":"feature","v":7}]'])
def test_what_only_a_newer_version_can_have_written_has_an_error_of_its_own(text: str) -> None:
    with pytest.raises(UnknownRecord):
        decode_records(text.encode())


@given(st.binary(max_size=200))
def test_any_other_bytes_are_refused_and_nothing_else_happens(data: bytes) -> None:
    try:
        decode_records(data)
    except MalformedRecord:
        pass


def test_the_kinds_that_security_will_add_are_free() -> None:
    assert not set(RESERVED_KINDS) & set(VERSIONS)
