"""The listeners of the broker, and the addresses it advertises to clients.

Owns      the syntax of `listeners` and related settings, and the constraints between them.
Promises  an error names the listener and states what would be valid; unsupported security protocols
          are rejected, never served without protection.
Leaves    binding, and the actual port of a listener with port 0, to the network layer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

from ottla.config.broker_options import BrokerConfig
from ottla.config.kinds import is_whole
from ottla.config.options import InvalidOption

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
SERVED_PROTOCOLS = ("PLAINTEXT",)
_EVERY_INTERFACE = ("", "0.0.0.0", "::")
THIS_MACHINE = "localhost"


class ListenerEndpoint(NamedTuple):
    name: str
    protocol: str
    host: str  # "" for all interfaces, or for this host's name in an advertised listener
    port: int

    def __str__(self) -> str:
        return f"{self.name}://{self.address}"

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Listeners(NamedTuple):
    bound: tuple[ListenerEndpoint, ...]
    advertised: tuple[ListenerEndpoint, ...]
    inter_broker_name: str

    def advertised_with(
        self, host_name: str, ports: Mapping[str, int]
    ) -> tuple[ListenerEndpoint, ...]:
        """As advertised: empty hosts and port 0 are replaced by the actual values."""
        return tuple(
            each._replace(
                host=each.host if each.host not in _EVERY_INTERFACE else host_name,
                port=each.port or ports.get(each.name, 0),
            )
            for each in self.advertised
        )

    def reached_with(self, ports: Mapping[str, int]) -> ListenerEndpoint:
        """The first listener as reachable from this host, whatever address is advertised."""
        first = self.bound[0]
        host = first.host if first.host not in _EVERY_INTERFACE else THIS_MACHINE
        return first._replace(host=host, port=ports.get(first.name, first.port))


def listeners_of(config: BrokerConfig, controller_names: Iterable[str] = ()) -> Listeners:
    """All listeners of a broker, except those of a KRaft controller, which a file may define
    too."""
    names = frozenset(controller_names)
    protocols = parse_protocol_map(config.listener_security_protocol_map)
    bound = _parse_all("listeners", config.listeners, protocols, names)
    if not bound:
        raise InvalidOption("listeners: there is none for clients and other brokers")
    _check_ports("listeners", bound)
    advertised = bound
    if config.advertised_listeners is not None:
        advertised = _parse_all(
            "advertised.listeners", config.advertised_listeners, protocols, names
        )
        _check_advertised(advertised, bound)
    return Listeners(bound, advertised, _inter_broker_name(config, advertised))


def parse_protocol_map(text: str) -> dict[str, str]:
    """`NAME:PROTOCOL,...` as a mapping."""
    protocols: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, colon, protocol = (each.strip() for each in part.partition(":"))
        if not colon or not name or protocol.upper() not in PROTOCOLS:
            raise InvalidOption(
                f"listener.security.protocol.map: {part!r} is not NAME:PROTOCOL with one of "
                f"{', '.join(PROTOCOLS)}"
            )
        protocols[name.upper()] = protocol.upper()
    return protocols


def parse_listener(setting: str, text: str, protocols: Mapping[str, str]) -> ListenerEndpoint:
    parts = _split_listener(text.strip())
    if parts is None:
        raise InvalidOption(f"{setting}: {text!r} is not NAME://host:port")
    name, host, port_text = parts
    port = int(port_text)
    if not 0 <= port <= 65535:
        raise InvalidOption(f"{setting}: {text!r} has a port outside 0 to 65535")
    protocol = protocols.get(name)
    if protocol is None:
        raise InvalidOption(
            f"{setting}: no security protocol is defined for listener {name}; name it in "
            "listener.security.protocol.map"
        )
    return ListenerEndpoint(name, protocol, host, port)


def _split_listener(text: str) -> tuple[str, str, str] | None:
    """Name, host and port of `NAME://host:port`, parsed as in Kafka: the port follows the last
    colon, so an IPv6 address needs no brackets."""
    name, slashes, address = text.partition("://")
    host, colon, port = address.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host, forbidden = host[1:-1], "]"
    else:
        forbidden = "[]/"
    is_split = bool(name and slashes and colon) and not any(each in name for each in ":/")
    if not is_split or any(each in host for each in forbidden) or not is_whole(port):
        return None
    return (name.upper(), host, port) if port[0] != "+" else None


def _parse_all(
    setting: str, texts: tuple[str, ...], protocols: Mapping[str, str], excluded: frozenset[str]
) -> tuple[ListenerEndpoint, ...]:
    wanted = [text for text in texts if text.partition(":")[0].strip().upper() not in excluded]
    found = tuple(parse_listener(setting, text, protocols) for text in wanted)
    for each in found:
        if each.protocol not in SERVED_PROTOCOLS:
            raise InvalidOption(
                f"{setting}: listener {each.name} asks for {each.protocol}, which Ottla does not "
                f"serve yet; it serves {', '.join(SERVED_PROTOCOLS)}"
            )
    if len({each.name for each in found}) != len(found):
        raise InvalidOption(f"{setting}: each listener must have a different name")
    return found


def _check_ports(setting: str, listeners: tuple[ListenerEndpoint, ...]) -> None:
    """Two listeners may share a port only as IPv4 and IPv6."""
    taken: dict[int, list[str]] = {}
    for each in listeners:
        if each.port:
            taken.setdefault(each.port, []).append(each.host)
    for port, hosts in taken.items():
        if len(hosts) > 1 and not (len(hosts) == 2 and _is_ipv4_and_ipv6(hosts)):
            raise InvalidOption(f"{setting}: port {port} is used by more than one listener")


def _is_ipv4_and_ipv6(hosts: list[str]) -> bool:
    return (
        sum(_is_ip(IPv4Address, host) for host in hosts)
        == 1
        == sum(_is_ip(IPv6Address, host) for host in hosts)
    )


def _is_ip(kind: type[IPv4Address] | type[IPv6Address], host: str) -> bool:
    try:
        kind(host)
    except AddressValueError:
        return False
    return True


def _check_advertised(
    advertised: tuple[ListenerEndpoint, ...], bound: tuple[ListenerEndpoint, ...]
) -> None:
    unbound = {each.name for each in advertised} - {each.name for each in bound}
    if unbound:
        raise InvalidOption(
            f"advertised.listeners: {', '.join(sorted(unbound))} is not among the listeners"
        )
    for each in advertised:
        if each.host in _EVERY_INTERFACE[1:]:
            raise InvalidOption(
                f"advertised.listeners: {each} is no address that a client can connect to"
            )


def _inter_broker_name(config: BrokerConfig, advertised: tuple[ListenerEndpoint, ...]) -> str:
    names = [each.name for each in advertised]
    if (name := config.inter_broker_listener_name) is not None:
        if name.upper() not in names:
            raise InvalidOption(
                f"inter.broker.listener.name={name} must be one of the advertised listeners: "
                f"{', '.join(names)}"
            )
        return name.upper()
    protocol = config.security_inter_broker_protocol
    for each in advertised:
        if each.protocol == protocol:
            return each.name
    raise InvalidOption(
        f"security.inter.broker.protocol={protocol}: no advertised listener has that protocol; set "
        "inter.broker.listener.name"
    )
