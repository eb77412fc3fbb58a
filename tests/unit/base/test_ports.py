"""Ports that a broker can get back after it was killed."""

from __future__ import annotations

import pytest

from ottla.base import ports
from ottla.base.ports import PORTS, non_ephemeral_ports


def test_several_ports_differ_and_are_none_of_the_systems_own() -> None:
    found = non_ephemeral_ports(20)
    assert len(set(found)) == 20
    assert all(port in PORTS for port in found)


def test_where_no_port_can_be_had_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_is_free", lambda port: port == PORTS[0])
    assert non_ephemeral_ports(1) == [PORTS[0]]
    with pytest.raises(OSError, match="1 of the ports 20000 to 31999 are free, not 2"):
        non_ephemeral_ports(2)
