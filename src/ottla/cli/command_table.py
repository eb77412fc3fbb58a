"""Every command with its one-line summary, in the order in which `ottla --help` lists them.

Leaves    options and behaviour to `commands/`. Imports nothing, so that `--help` is immediate.
"""

Verbs = dict[str, str]

COMMANDS: dict[str, str | Verbs] = {
    "up": "run a broker in the foreground",
    "status": "show brokers, topics, groups and health of the cluster",
    "topics": {
        "list": "list topics",
        "describe": "show partitions, offsets and settings of topics",
        "create": "create topics",
        "alter": "change settings of topics, or add partitions",
        "delete": "delete topics with all their records",
    },
    "produce": "write records, from arguments or from standard input",
    "consume": "read records: any part of a topic, or as a member of a group",
    "groups": {
        "list": "list consumer groups",
        "describe": "show members, offsets and lag of groups",
        "reset": "set the committed offsets of a group",
        "delete": "delete groups with their committed offsets",
    },
    "cluster": {
        "up": "run a cluster on this machine in the foreground: ZooKeeper and brokers",
        "status": "show the processes of a local cluster",
        "start": "start members of a local cluster that do not run",
        "stop": "stop members of a local cluster, as SIGTERM does",
        "kill": "end members of a local cluster as a crash would (SIGKILL)",
        "restart": "stop and start the brokers of a local cluster, one after the other",
        "decommission": "move all replicas away from a broker, and unregister it",
        "down": "stop a local cluster; its data is kept",
    },
    "audit": {
        "run": "count the records of logs and tables, and report them",
        "report": "show how complete each topic is in each tier",
        "verify": "exit code 0 if all records of a time are there, once and unchanged",
        "drill": "show which offsets of a bucket are missing, doubled or changed",
        "check": "exit code 0 if all is complete and recent enough, for cron and alerts",
    },
    "pipeline": {
        "init": "write a pipeline file to begin with",
        "validate": "check a pipeline file against clusters and tables, reading no records",
        "run": "run pipelines until Ctrl-C, or once with what there is",
        "status": "show the last batch and the lag of pipelines",
        "backfill": "add to a table the records that it lacks, or replace hours",
        "replay-bad": "add to a table the bad records that can be decoded now",
        "compact": "rewrite small files of closed hours to large ones",
        "test": "compare what pipelines make of given records with what is expected",
    },
    "zookeeper": "run a ZooKeeper server in the foreground, for clusters of brokers",
    "completion": "print a completion script for bash, zsh or fish",
    "version": "show the installed version",
}
ALIASES = {"topic": "topics", "pipelines": "pipeline", "group": "groups", "--version": "version"}
# What there is instead of Kafka's tools, named without `kafka-` and `.sh`.
TOOLS = {
    "console-consumer": "consume",
    "console-producer": "produce",
    "consumer-groups": "groups",
    "server-start": "up",
    "zookeeper-server-start": "zookeeper",
    "configs": "topics alter --config, or topics describe",
    "cluster": "status",
    "broker-api-versions": "status",
}


def module_of(names: tuple[str, ...]) -> str:
    """The module of a command, such as ("pipeline", "replay-bad")."""
    return ".".join(("ottla.cli.commands", *names)).replace("-", "_")
