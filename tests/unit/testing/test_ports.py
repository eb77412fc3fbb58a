"""Ports that a broker can get back after it was killed."""

from __future__ import annotations

from ottla.testing.ports import PORTS, quiet_ports


def test_several_ports_differ_and_are_none_of_the_systems_own() -> None:
    found = quiet_ports(20)
    assert len(set(found)) == 20
    assert all(port in PORTS for port in found)
