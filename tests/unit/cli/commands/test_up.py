from __future__ import annotations

import argparse
import asyncio
import resource

import pytest

from ottla.cli.broker_process.event_loop import loop_factory
from ottla.cli.broker_process.open_files import raise_open_files_limit
from ottla.cli.broker_process.serving import first_of
from ottla.cli.commands.up import add_arguments, defaults, listen_address


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


@pytest.mark.parametrize(
    ("text", "address"),
    [("localhost:9092", "localhost:9092"), (":9092", ":9092"), ("9092", "localhost:9092"),
     ("[::1]:0", "[::1]:0")],
)  # fmt: skip
def test_an_address_may_be_a_port_alone(text: str, address: str) -> None:
    assert listen_address(text) == address


@pytest.mark.parametrize("text", ["localhost", "localhost:", "x:-1", "x:9O92"])
def test_an_address_without_a_port_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not HOST:PORT"):
        listen_address(text)


@pytest.mark.parametrize("text", ["x:65536", "70000", "x:" + "9" * 5000])
def test_a_port_that_is_too_large_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="ports are 0 to 65535"):
        listen_address(text)


def test_a_configuration_file_keeps_its_listeners_and_directories() -> None:
    assert defaults(parsed("--config", "server.properties")) == []
    assert len(defaults(parsed())) == 2
    given = defaults(parsed("--config", "server.properties", "--listen", "localhost:1"))
    assert given == ["listeners=PLAINTEXT://localhost:1"]


def test_asyncio_has_no_factory_of_ours_and_an_unknown_loop_is_an_argument_error() -> None:
    loop = loop_factory("asyncio")()
    loop.close()
    assert isinstance(loop, asyncio.SelectorEventLoop)
    with pytest.raises(SystemExit):
        parsed("--loop", "twisted")


def test_a_log_level_may_be_written_in_lower_case() -> None:
    assert parsed("--log-level", "debug").log_level == "DEBUG"


def test_the_limit_of_open_files_is_raised_to_what_may_be_had() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, before[1]), before[1]))
        assert raise_open_files_limit() == before[1]
        assert raise_open_files_limit() == before[1]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_of_nested_exception_groups_the_first_error_is_reported() -> None:
    fault = OSError("the disk is gone")
    inner = ExceptionGroup("inner", [fault, OSError("another")])
    assert first_of(ExceptionGroup("outer", [inner, OSError("later")])) is fault
