"""`ottla pipeline init`: write a pipeline file to begin with."""

from __future__ import annotations

import argparse
from pathlib import Path

from ottla.cli.arguments.texts import path_name
from ottla.cli.cluster.connection import DEFAULT_SERVERS, valid_servers
from ottla.cli.errors import CommandFailed
from ottla.cli.producing.failures import invalid_topic_name, is_valid_topic_name

NEXT = """\
wrote {path}: a lake and a feed of the topic {topic}. Next:
  ottla topics create {topic}
  ottla produce {topic} '{{"id":1,"item":"pen","amount":1200,"at":"2026-03-01T10:00:00Z"}}'
  ottla pipeline validate {path}
  ottla pipeline run --once {path}
  ottla pipeline status {path}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", type=path_name, help="the file to write, such as orders.yaml"
    )
    parser.add_argument("--topic", default="orders", help="the topic to read (default: orders)")
    parser.add_argument(
        "--lake-format", choices=("parquet", "delta", "iceberg"), default="parquet",
        help="the format of the table (default: parquet)",
    )  # fmt: skip
    parser.add_argument(
        "-b", "--bootstrap", metavar="HOST:PORT",
        help=f"the cluster (default: $OTTLA_BOOTSTRAP, or {DEFAULT_SERVERS})",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    from ottla.pipelines.verbs.skeleton import skeleton

    path = Path(arguments.file)
    servers = valid_servers(arguments.bootstrap)
    if not is_valid_topic_name(arguments.topic):
        raise invalid_topic_name(arguments.topic)
    text = skeleton(servers, arguments.topic, arguments.lake_format)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "x") as file:
            file.write(text)
    except FileExistsError:
        raise CommandFailed(f"{path} exists", "give another name; nothing was changed") from None
    except OSError as error:
        raise CommandFailed(f"{path}: {error.strerror}") from None
    print(NEXT.format(path=path, topic=arguments.topic))
    return 0
