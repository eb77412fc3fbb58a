"""Options of Kafka's own tools and of kcat, and what a command has instead of them."""

from __future__ import annotations

from collections.abc import Collection

# The option of Kafka's tool; then an option the command must have, and what to write with it.
RECORD_FORMAT = ("--format", r"--format, such as '%k\t%v\n'")
CLIENT_SETTING = ("-X", "-X NAME=VALUE for each setting")
ADDRESS = ("--bootstrap", "--bootstrap HOST:PORT")
REPLACEMENTS = {
    "--timeout-ms": ("--exit", "--exit, which stops at the end"),
    "--property": RECORD_FORMAT,
    "--formatter-property": RECORD_FORMAT,
    "--reader-property": RECORD_FORMAT,
    "--formatter": RECORD_FORMAT,
    "--line-reader": RECORD_FORMAT,
    "--consumer-property": CLIENT_SETTING,
    "--producer-property": CLIENT_SETTING,
    "--command-property": CLIENT_SETTING,
    "--consumer.config": CLIENT_SETTING,
    "--producer.config": CLIENT_SETTING,
    "--command-config": CLIENT_SETTING,
    "--broker-list": ADDRESS,
    "--zookeeper": ADDRESS,
    "--include": ("--grep", "a pattern as TOPIC, such as 'ord*'"),
    "--whitelist": ("--grep", "a pattern as TOPIC, such as 'ord*'"),
    "--compression-codec": ("--compression", "--compression"),
    "--request-required-acks": ("--acks", "--acks"),
    "--add-config": ("--config", "--config NAME=VALUE"),
    "--to-earliest": ("--to", "--to start"),
    "--to-latest": ("--to", "--to end"),
    "--to-offset": ("--to", "--to OFFSET"),
    "--to-datetime": ("--to", "--to @TIME, such as @2024-02-14T09:30:00Z"),
    "--by-duration": ("--to", "--to @-DURATION, such as @-1h"),
    "--export": ("--from-file", "ottla groups describe GROUP --format json for --from-file"),
    "--reset-offsets": ("--from-file", "nothing: ottla groups reset always does it"),
    "--all-topics": ("--from-file", "nothing: all topics of the group are meant without --topic"),
    "--to-current": ("--from-file", "--shift-by 0"),
    "--execute": ("--dry-run", "nothing: without --dry-run the change is made"),
    "-t": ("--topic", "the topic alone, or --topic"),
    "-c": ("--count", "-n"),
    "-G": ("--group", "-g"),
    "-C": ("--grep", "nothing: ottla consume always reads"),
    "-P": ("--acks", "nothing: ottla produce always writes"),
    "-J": ("--grep", "--format json"),
    "-D": RECORD_FORMAT,
}


def replacement(option: str, known: Collection[str]) -> str | None:
    """What to write instead of this option, in a command with the `known` ones."""
    needed, advice = REPLACEMENTS.get(option, (None, None))
    return advice if needed in known else None
