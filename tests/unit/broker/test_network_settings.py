from __future__ import annotations

import resource

import pytest

from ottla.base.files.disk import default_open_files_max
from ottla.base.rates import Windows
from ottla.broker.network_settings import SPARE_DESCRIPTORS, limits, limits_of_listener
from ottla.config.broker_options import BrokerConfig
from ottla.config.layers import BrokerLayers
from ottla.network.limits import UNLIMITED


def with_descriptors(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (limit, limit))


@pytest.mark.parametrize("limit", [256, 1024, 4096])
def test_connections_leave_their_descriptors_to_files(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_descriptors(monkeypatch, limit)
    connections = limits(BrokerConfig()).connections_max
    assert connections + default_open_files_max() + SPARE_DESCRIPTORS == limit


@pytest.mark.parametrize("limit", [1_000_000, resource.RLIM_INFINITY])
def test_where_there_are_descriptors_the_setting_counts(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_descriptors(monkeypatch, limit)
    assert limits(BrokerConfig(max_connections=77)).connections_max == 77
    if limit == resource.RLIM_INFINITY:
        config = BrokerConfig(max_connections=2**31 - 1)
        assert limits(config).connections_max == UNLIMITED


def test_overrides_that_cannot_be_read_are_passed_over() -> None:
    config = BrokerConfig(max_connections_per_ip_overrides="10.0.0.1:5,junk,10.0.0.2:x,0::1:7,")
    assert limits(config).per_address_overrides == {"10.0.0.1": 5, "::1": 7}


def test_a_listener_has_limits_of_its_own() -> None:
    layers = BrokerLayers({"listener.name.inside.max.connections": "7"})
    assert limits_of_listener("INSIDE", layers).connections_max == 7
    assert limits_of_listener("OUTSIDE", layers).connections_max == 10_000
    assert limits_of_listener("INSIDE", layers).creations_per_s_max == UNLIMITED


def test_new_connections_are_measured_over_the_windows_of_quotas() -> None:
    layers = BrokerLayers(static={"quota.window.num": "5", "quota.window.size.seconds": "2"})
    assert limits_of_listener("ANY", layers).windows == Windows(5, 2000)
    config = BrokerConfig(quota_window_num=5, quota_window_size_seconds=2)
    assert limits(config).windows == Windows(5, 2000)
