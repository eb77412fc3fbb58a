"""Ports for a broker that is killed and must get its port back (`base/ports.py`)."""

from ottla.base.ports import non_ephemeral_port, non_ephemeral_ports

__all__ = ["non_ephemeral_port", "non_ephemeral_ports"]
