from __future__ import annotations

import pytest

from ottla.config.zookeeper_connect import BadConnectString, ConnectString


@pytest.mark.parametrize(
    ("text", "hosts", "chroot"),
    [
        ("localhost", "localhost:2181", ""),
        ("a:1,b:2 , c", "a:1,b:2,c:2181", ""),
        ("a:1,b:2/kafka/x", "a:1,b:2", "/kafka/x"),
        ("a/", "a:2181", ""),
        ("[::1]:7/x/", "[::1]:7", "/x"),
        ("[::1]", "[::1]:2181", ""),
    ],
)
def test_servers_and_chroot(text: str, hosts: str, chroot: str) -> None:
    parsed = ConnectString.parse(text)
    assert parsed == ConnectString(hosts, chroot)
    assert ConnectString.parse(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no server"),
        ("/chroot", "names no server"),
        ("a,,b", "names no server"),
        ("a:x", "'a:x' is no server"),
        ("a:0", "with a port to 65535"),
        ("a:65536", "with a port to 65535"),
        (":1", "is no server"),
        ("a//b", "is no path"),
        ("a/../b", "is no path"),
        ("a/x\ny", "is no path"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(BadConnectString, match=message):
        ConnectString.parse(text)
