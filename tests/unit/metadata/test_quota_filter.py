"""DescribeClientQuotas against a plain reading of the rules, for every filter there is."""

from __future__ import annotations

from itertools import product

import pytest

from ottla.base.scheduling.steps import run_blocking
from ottla.metadata.image import Batch, Image
from ottla.metadata.quota_filter import describe_client_quotas
from ottla.metadata.records import QuotaChanged, QuotaEntity
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_client_quotas_request import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from ottla.protocol.messages.describe_client_quotas_response import DescribeClientQuotasResponse

EXACT, DEFAULT, ANY = range(3)
NAMES = (None, "a", "b")
ENTITIES: list[QuotaEntity] = [
    *((("client-id", name),) for name in NAMES),
    *((("user", name),) for name in NAMES),
    *((("client-id", client), ("user", user)) for client, user in product(NAMES, NAMES)),
    *((("ip", name),) for name in (None, "::1")),
]


def image_of(entities: list[QuotaEntity]) -> Image:
    image = Image()
    records = [
        QuotaChanged(entity, key, float(number))
        for number, entity in enumerate(entities)
        for key in ("producer_byte_rate", "consumer_byte_rate")
    ]
    image.apply(Batch(0, 1, tuple(records)))
    return image


def described(
    image: Image, components: list[ComponentData], *, strict: bool
) -> DescribeClientQuotasResponse:
    return run_blocking(
        describe_client_quotas(image, DescribeClientQuotasRequest(components, strict))
    )


def entities_in(answer: DescribeClientQuotasResponse) -> set[QuotaEntity]:
    assert answer.error_code == 0
    return {
        tuple((each.entity_type, each.entity_name) for each in entry.entity)
        for entry in answer.entries or ()
    }


CHOICES: list[tuple[int, str | None] | None] = [
    None, (EXACT, "a"), (EXACT, "b"), (EXACT, "nobody"), (DEFAULT, None), (ANY, None),
]  # fmt: skip


@pytest.mark.parametrize("strict", [False, True])
def test_every_filter_finds_what_its_words_say(strict: bool) -> None:
    image = image_of(ENTITIES)
    for user, client in product(CHOICES, CHOICES):
        asked = {kind: each for kind, each in (("user", user), ("client-id", client)) if each}
        components = [ComponentData(kind, *each) for kind, each in asked.items()]

        def is_wanted(
            entity: QuotaEntity, asked: dict[str, tuple[int, str | None]] = asked
        ) -> bool:
            names = dict(entity)
            if strict and names.keys() != asked.keys():
                return False
            for kind, (match, name) in asked.items():
                if kind not in names:
                    return False
                if match == EXACT and names[kind] != name:
                    return False
                if match == DEFAULT and names[kind] is not None:
                    return False
            return True

        found = entities_in(described(image, components, strict=strict))
        assert found == {each for each in ENTITIES if is_wanted(each)}, components


def test_addresses_are_found_by_themselves() -> None:
    image = image_of(ENTITIES)
    for match, name, expected in (
        (EXACT, "::1", {(("ip", "::1"),)}),
        (DEFAULT, None, {(("ip", None),)}),
        (ANY, None, {(("ip", "::1"),), (("ip", None),)}),
    ):
        answer = described(image, [ComponentData("ip", match, name)], strict=False)
        assert entities_in(answer) == expected


def test_an_entry_has_all_its_limits() -> None:
    image = image_of([(("user", "a"),)])
    (entry,) = described(image, [], strict=False).entries or ()
    assert {each.key: each.value for each in entry.values} == {
        "producer_byte_rate": 0.0,
        "consumer_byte_rate": 0.0,
    }


@pytest.mark.parametrize(
    ("components", "code"),
    [
        ([("", EXACT, "a")], ErrorCode.INVALID_REQUEST),
        ([("host", EXACT, "a")], ErrorCode.UNSUPPORTED_VERSION),
        ([("user", 3, None)], ErrorCode.INVALID_REQUEST),
        ([("user", -1, None)], ErrorCode.INVALID_REQUEST),
        ([("user", EXACT, None)], ErrorCode.INVALID_REQUEST),
        ([("user", DEFAULT, "a")], ErrorCode.INVALID_REQUEST),
        ([("user", ANY, "a")], ErrorCode.INVALID_REQUEST),
        ([("user", ANY, None), ("user", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("ip", ANY, None), ("user", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("client-id", ANY, None), ("ip", ANY, None)], ErrorCode.INVALID_REQUEST),
        ([("user", ANY, None), ("client-id", EXACT, "")], ErrorCode.NONE),
        ([("ip", ANY, None)], ErrorCode.NONE),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_with_its_code(
    components: list[tuple[str, int, str | None]], code: ErrorCode
) -> None:
    answer = described(Image(), [ComponentData(*each) for each in components], strict=False)
    assert answer.error_code == code
    assert (answer.entries is None) == (code != ErrorCode.NONE)
