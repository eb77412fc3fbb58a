"""Which quota holds for whom, and who pays together."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from ottla.handlers.quotas.quota_limits import (
    LIMITLESS,
    AddressLimits,
    FoundLimit,
    Limits,
    MeterKey,
)
from ottla.metadata.records import QuotaEntity

RATE = "producer_byte_rate"
# From the most special to the most general: entity, and who then pays.
ORDER: list[tuple[QuotaEntity, MeterKey]] = [
    ((("client-id", "c"), ("user", "u")), MeterKey("u", "c")),
    ((("client-id", None), ("user", "u")), MeterKey("u", "c")),
    ((("user", "u"),), MeterKey("u", None)),
    ((("client-id", "c"), ("user", None)), MeterKey("u", "c")),
    ((("client-id", None), ("user", None)), MeterKey("u", "c")),
    ((("user", None),), MeterKey("u", None)),
    ((("client-id", "c"),), MeterKey(None, "c")),
    ((("client-id", None),), MeterKey(None, "c")),
]


def limits_of(quotas: dict[QuotaEntity, dict[str, float]]) -> Limits:
    limits = Limits(RATE)
    for entity, values in quotas.items():
        limits.change(entity, values)
    return limits


@pytest.mark.parametrize("count", range(1, 9))
def test_the_most_special_quota_holds(count: int) -> None:
    for chosen in itertools.combinations(range(8), count):
        quotas = {ORDER[at][0]: {RATE: 100.0 + at} for at in reversed(chosen)}
        assert limits_of(quotas).find("u", "c") == FoundLimit(
            ORDER[chosen[0]][1], 100.0 + chosen[0]
        )


def test_others_have_no_quota_and_are_measured_as_if_they_had() -> None:
    limits = limits_of({(("client-id", "c"), ("user", "u")): {RATE: 1.0}})
    assert limits.find("u", "other") == FoundLimit(MeterKey("u", "other"), LIMITLESS)
    assert limits.find("other", "c") == FoundLimit(MeterKey("other", "c"), LIMITLESS)
    of_users = limits_of({(("user", "u"),): {RATE: 1.0}})
    assert of_users.find("other", "c") == FoundLimit(MeterKey("other", None), LIMITLESS)
    mixed = limits_of({(("user", "u"),): {RATE: 1.0}, (("client-id", "d"),): {RATE: 1.0}})
    assert mixed.find("other", "c") == FoundLimit(MeterKey(None, "c"), LIMITLESS)
    assert not limits_of({(("user", "u"),): {"consumer_byte_rate": 1.0}})


def test_clients_without_a_name_share_only_their_users_quota() -> None:
    limits = limits_of({(("client-id", None),): {RATE: 1.0}, (("user", "u"),): {RATE: 2.0}})
    assert limits.find("u", "") == FoundLimit(MeterKey("u", None), 2.0)
    assert limits.find("other", "").limit == LIMITLESS


@pytest.mark.parametrize("seed", range(20))
def test_limits_that_change_one_by_one_are_those_that_are_set_at_last(seed: int) -> None:
    rng, limits, quotas = Random(seed), Limits(RATE), dict[QuotaEntity, dict[str, float]]()
    for _ in range(60):
        entity = rng.choice(ORDER)[0]
        quotas[entity] = {RATE: rng.random()} if rng.random() < 0.5 else {}
        limits.change(entity, quotas[entity])
        new = limits_of(quotas)
        assert bool(limits) == bool(new)
        for user, client in itertools.product(("u", "other"), ("c", "other", "")):
            assert limits.find(user, client) == new.find(user, client)


def test_addresses_have_quotas_of_their_own_or_the_default() -> None:
    limits = AddressLimits()
    rate = "connection_creation_rate"
    limits.change((("user", "u"),), {RATE: 1.0})
    assert not limits.take_changed()
    limits.change((("ip", "10.0.0.1"),), {rate: 5.0})
    limits.change((("ip", None),), {rate: 9.0})
    assert (limits.default, limits.by_address) == (9.0, {"10.0.0.1": 5.0})
    assert limits.take_changed()
    assert not limits.take_changed()
    limits.change((("ip", "10.0.0.1"),), {})
    limits.change((("ip", None),), {})
    assert (limits.default, limits.by_address) == (None, {})
