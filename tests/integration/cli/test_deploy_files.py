"""The files of `deploy/`: their commands and settings exist, and their ports agree.

No container is started. The reader knows the part of YAML that `compose.yaml` uses.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from ottla.cli.main import FoundCommand, command_parser, find_command
from ottla.config.load import LoadedConfig, PropertiesFile, load_config
from ottla.config.options import InvalidOption

DEPLOY = Path(__file__).parents[3] / "deploy"
ENVIRONMENT = {"ID": "2", "SERVERS": "1=kafka1:2888:3888,2=kafka2:2888:3888,3=kafka3:2888:3888"}
LINE = re.compile(r"( *)(- )?(?:([\w.-]+):(?: |$))?(.*)")


def read_yaml(text: str) -> Any:
    """Mappings and lists by indentation; scalars are JSON or plain text."""
    root: dict[str, Any] = {}
    above: list[tuple[int, Any]] = [(-1, root)]  # indentation, and what is at that level
    lines = [
        each for each in text.splitlines() if each.strip() and not each.lstrip().startswith("#")
    ]
    for at, line in enumerate(lines):
        found = LINE.fullmatch(line)
        assert found is not None, line
        indent, is_item, key, value = len(found[1]), found[2] is not None, found[3], found[4]
        while above[-1][0] >= indent:
            above.pop()
        inside = above[-1][1]
        if is_item:
            inside.append(scalar(line.strip().removeprefix("- ")))
            continue
        assert key is not None, line
        assert key not in inside, f"{key} twice"
        if value:
            inside[key] = scalar(value)
            continue
        after = lines[at + 1] if at + 1 < len(lines) else ""
        inside[key] = [] if after.lstrip().startswith("- ") else {}
        above.append((indent, inside[key]))
    return root


def scalar(text: str) -> Any:
    return json.loads(text) if text[0] in '["{' else text


def parsed(words: list[str]) -> Any:
    """The arguments of a command, as the command itself reads them."""
    from importlib import import_module

    found = find_command(words)
    assert isinstance(found, FoundCommand), found
    module = import_module(".".join(("ottla.cli.commands", *found.names)))
    return command_parser(module, found, "ottla").parse_args(found.rest)


def settings_of(words: list[str]) -> LoadedConfig:
    """What a broker with this command would run with; an unknown setting raises."""
    arguments = parsed(words)
    path = DEPLOY / Path(arguments.config).name
    file = PropertiesFile(str(path), path.read_bytes())
    return load_config(file, {}, [f"log.dirs={arguments.data}", *arguments.settings])


COMPOSE = read_yaml((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
BROKERS = {name: each for name, each in SERVICES.items() if name.startswith("broker-")}
DOCKERFILE = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ").splitlines()


def instructions(name: str) -> list[str]:
    return [line.partition(" ")[2].strip() for line in DOCKERFILE if line.startswith(f"{name} ")]


def test_the_services_of_compose_run_commands_that_exist() -> None:
    zookeeper = parsed(SERVICES["zookeeper"]["command"])
    assert (zookeeper.listen.host, zookeeper.listen.port) == ("0.0.0.0", 2181)
    assert len(BROKERS) == 3
    for name, service in BROKERS.items():
        loaded = settings_of(service["command"])
        assert not loaded.notices
        assert name == service["hostname"] == f"broker-{loaded.config.node_id}"
        assert loaded.config.zookeeper_connect == f"zookeeper:{zookeeper.listen.port}/ottla"
        assert service["depends_on"] == ["zookeeper"]


@pytest.mark.parametrize("name", BROKERS)
def test_brokers_of_compose_replicate_as_those_of_the_guide(name: str) -> None:
    config = settings_of(BROKERS[name]["command"]).config
    factors = (
        config.default_replication_factor,
        config.offsets_topic_replication_factor,
        config.transaction_state_log_replication_factor,
    )
    assert factors == (len(BROKERS),) * 3
    assert (config.min_insync_replicas, config.transaction_state_log_min_isr) == (2, 2)


@pytest.mark.parametrize("name", BROKERS)
def test_ports_and_addresses_of_a_broker_agree(name: str) -> None:
    loaded = settings_of(BROKERS[name]["command"])
    bound = {each.name: each.port for each in loaded.listeners.bound}
    advertised = {each.name: (each.host, each.port) for each in loaded.listeners.advertised}
    assert advertised == {
        "BROKERS": (name, bound["BROKERS"]), "CLIENTS": ("localhost", bound["CLIENTS"]),
    }  # fmt: skip
    assert BROKERS[name]["ports"] == [f"{bound['CLIENTS']}:{bound['CLIENTS']}"]
    others = [each["ports"] for other, each in BROKERS.items() if other != name]
    assert BROKERS[name]["ports"] not in others


def test_volumes_and_paths_are_those_of_the_image() -> None:
    (volume,) = instructions("VOLUME")
    for name, service in SERVICES.items():
        assert service["volumes"] == [f"{name}:{volume}"]
        assert service["image"] == SERVICES["zookeeper"]["image"]
        assert parsed(service["command"]).data == volume
    assert COMPOSE["volumes"].keys() == SERVICES.keys()
    build = SERVICES["zookeeper"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).resolve() == DEPLOY / "Dockerfile"
    copied = dict(each.split() for each in instructions("COPY") if each.startswith("deploy/"))
    config = parsed(BROKERS["broker-1"]["command"]).config
    assert [(DEPLOY.parent / source).exists() for source, to in copied.items() if to == config] == [
        True
    ]


def test_the_image_starts_a_broker_that_can_be_reached() -> None:
    assert instructions("ENTRYPOINT") == ['["ottla"]']
    arguments = parsed(json.loads(instructions("CMD")[0]))
    assert arguments.listen == f":{instructions('EXPOSE')[0]}"
    loaded = load_config(
        None, {}, [f"listeners=PLAINTEXT://{arguments.listen}", *arguments.settings]
    )
    assert [str(each.port) for each in loaded.listeners.advertised] == instructions("EXPOSE")
    extras = re.search(r"ottla\[([\w,]+)\]", "\n".join(DOCKERFILE))
    assert extras is not None
    project = (DEPLOY.parent / "pyproject.toml").read_text()
    assert all(f"\n{extra} = [" in project for extra in extras[1].split(","))


def test_the_settings_in_the_guide_are_accepted() -> None:
    guide = (DEPLOY.parent / "docs/guides/cluster.md").read_text()
    (settings,) = re.findall(r"^```properties\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    loaded = load_config(PropertiesFile("guide", settings.encode()), {}, [])
    assert loaded.config.is_cluster_member
    assert not loaded.notices
    table = guide.partition("# Coming from Kafka")[2]
    for text in ("zookeeper.max.in.flight.requests=1", "process.roles=broker",
                 "broker.id.generation.enable=true", "reserved.broker.max.id=9"):  # fmt: skip
        assert f"`{text.partition('=')[0]}`" in table
        notices = load_config(PropertiesFile("guide", text.encode()), {}, []).notices
        assert "without effect here" in notices[0]
    with pytest.raises(InvalidOption, match="not supported yet"):
        load_config(PropertiesFile("guide", b"zookeeper.set.acl=true"), {}, [])


@pytest.mark.parametrize("name", ["ottla.service", "ottla-zookeeper.service"])
def test_units_of_systemd_run_commands_that_exist(name: str) -> None:
    found = re.search(r"^ExecStart=\S+/ottla (.*)$", (DEPLOY / name).read_text(), re.MULTILINE)
    assert found is not None
    words = [re.sub(r"\$\{(\w+)\}", lambda at: ENVIRONMENT[at[1]], each) for each in
             shlex.split(found[1])]  # fmt: skip
    arguments = parsed(words)
    if name == "ottla-zookeeper.service":
        assert arguments.id in [each.id for each in arguments.servers]
