"""Ports for a broker that is killed and must get its port back (`base/ports.py`)."""

from ottla.base.ports import quiet_port, quiet_ports

__all__ = ["quiet_port", "quiet_ports"]
