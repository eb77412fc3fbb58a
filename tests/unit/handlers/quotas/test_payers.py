"""Which quota holds for whom, and who pays together."""

from __future__ import annotations

import itertools

import pytest

from ottla.handlers.quotas.payers import LIMITLESS, Due, Limits, Payer, address_limits
from ottla.metadata.records import QuotaEntity

RATE = "producer_byte_rate"
# From the most special to the most general: entity, and who then pays.
ORDER: list[tuple[QuotaEntity, Payer]] = [
    ((("client-id", "c"), ("user", "u")), Payer("u", "c")),
    ((("client-id", None), ("user", "u")), Payer("u", "c")),
    ((("user", "u"),), Payer("u", None)),
    ((("client-id", "c"), ("user", None)), Payer("u", "c")),
    ((("client-id", None), ("user", None)), Payer("u", "c")),
    ((("user", None),), Payer("u", None)),
    ((("client-id", "c"),), Payer(None, "c")),
    ((("client-id", None),), Payer(None, "c")),
]


@pytest.mark.parametrize("count", range(1, 9))
def test_the_most_special_quota_holds(count: int) -> None:
    for chosen in itertools.combinations(range(8), count):
        quotas = {ORDER[at][0]: {RATE: 100.0 + at} for at in reversed(chosen)}
        assert Limits(quotas, RATE).find("u", "c") == Due(ORDER[chosen[0]][1], 100.0 + chosen[0])


def test_others_have_no_quota_and_are_measured_as_if_they_had() -> None:
    limits = Limits({(("client-id", "c"), ("user", "u")): {RATE: 1.0}}, RATE)
    assert limits.find("u", "other") == Due(Payer("u", "other"), LIMITLESS)
    assert limits.find("other", "c") == Due(Payer("other", "c"), LIMITLESS)
    of_users = Limits({(("user", "u"),): {RATE: 1.0}}, RATE)
    assert of_users.find("other", "c") == Due(Payer("other", None), LIMITLESS)
    mixed = Limits({(("user", "u"),): {RATE: 1.0}, (("client-id", "d"),): {RATE: 1.0}}, RATE)
    assert mixed.find("other", "c") == Due(Payer(None, "c"), LIMITLESS)
    assert not Limits({(("user", "u"),): {"consumer_byte_rate": 1.0}}, RATE)


def test_clients_without_a_name_share_only_their_users_quota() -> None:
    limits = Limits({(("client-id", None),): {RATE: 1.0}, (("user", "u"),): {RATE: 2.0}}, RATE)
    assert limits.find("u", "") == Due(Payer("u", None), 2.0)
    assert limits.find("other", "").limit == LIMITLESS


def test_addresses_have_quotas_of_their_own_or_the_default() -> None:
    rate = "connection_creation_rate"
    quotas: dict[QuotaEntity, dict[str, float]] = {
        (("ip", "10.0.0.1"),): {rate: 5.0},
        (("ip", None),): {rate: 9.0},
    }
    assert address_limits(quotas) == (9.0, {"10.0.0.1": 5.0})
    assert address_limits({(("user", "u"),): {RATE: 1.0}}) == (None, {})
