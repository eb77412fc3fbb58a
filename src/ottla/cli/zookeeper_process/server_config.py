"""The configuration files of one ZooKeeper server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ottla.cli.errors import CommandFailed
from ottla.config.addresses import Address, parse_address, parse_port

CONFIG_NAME = "zoo.cfg"
# Sessions can be as short as a second, for quick fail-over, and as long as Kafka's default of 18 s.
COMMON = """\
tickTime=500
minSessionTimeout=1000
maxSessionTimeout=60000
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=srvr,stat,mntr,ruok
autopurge.snapRetainCount=3
autopurge.purgeInterval=1
"""
ENSEMBLE = """\
initLimit=20
syncLimit=10
standaloneEnabled=false
"""


@dataclass(frozen=True, slots=True)
class EnsembleServer:
    """A server of an ensemble: where the others reach it, for data and for elections."""

    id: int
    host: str
    data_port: int
    election_port: int

    @property
    def addresses(self) -> tuple[Address, Address]:
        return Address(self.host, self.data_port), Address(self.host, self.election_port)

    def __str__(self) -> str:
        return f"{self.id}={self.host}:{self.data_port}:{self.election_port}"


def parse_members(text: str) -> list[EnsembleServer]:
    """`1=HOST:2888:3888,2=HOST:2888:3888,...`; ValueError says what is wrong."""
    members = [_parse_member(part.strip()) for part in text.split(",")]
    if len({each.id for each in members}) < len(members):
        raise ValueError(f"{text!r} has an id twice")
    addresses = [each for member in members for each in member.addresses]
    for address in addresses:
        if addresses.count(address) > 1:
            raise ValueError(f"{text!r} has the address {address} twice")
    return members


def _parse_member(text: str) -> EnsembleServer:
    number, equals, addresses = text.partition("=")
    address, colon, election = addresses.rpartition(":")
    has_both = colon and ":" in address.rpartition("]")[2]
    if not equals or not has_both or not (number.isascii() and number.isdigit()):
        raise ValueError(f"{text!r} is not ID=HOST:PORT:PORT, such as 1=localhost:2888:3888")
    if not 1 <= int(number) <= 255:
        raise ValueError(f"{text!r}: ids are 1 to 255")
    data = parse_address(address)
    return EnsembleServer(int(number), data.host, data.port, parse_port(text, election))


def write_config(
    data: Path, listen: Address, server_id: int, members: list[EnsembleServer]
) -> Path:
    """Write what the server reads at its start, and return the path of its configuration."""
    lines = COMMON
    lines += f"dataDir={data}\nclientPortAddress={listen.host}\nclientPort={listen.port}\n"
    if members:
        _write_server_id(data, server_id)
        lines += ENSEMBLE
        lines += "".join(f"server.{each}\n" for each in members)
    path = data / CONFIG_NAME
    path.write_text(lines)
    return path


def _write_server_id(data: Path, server_id: int) -> None:
    path = data / "myid"
    if path.exists() and path.read_text().strip() != str(server_id):
        raise CommandFailed(
            f"{data} belongs to server {path.read_text().strip()} of an ensemble, not to "
            f"{server_id}",
            "use another --data directory, or the --id that it had",
        )
    path.write_text(f"{server_id}\n")
