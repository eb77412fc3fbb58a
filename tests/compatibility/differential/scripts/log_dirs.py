"""AlterReplicaLogDirs: to the directory where a replica is, and to places that do not exist."""

from __future__ import annotations

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.alter_replica_log_dirs_request import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from ottla.protocol.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)

Places = tuple[str, list[int]]


@script(ApiKey.ALTER_REPLICA_LOG_DIRS)
def alter_replica_log_dirs(session: Session) -> None:
    topic, other, none = (
        session.topic("t", 3).name,
        session.topic("other").name,
        session.name("none"),
    )
    here = session.quietly(DescribeLogDirsRequest(None), 4).results[0].log_dir

    def ask(label: str, *places: tuple[str, list[Places]]) -> None:
        dirs = [
            AlterReplicaLogDir(path, [AlterReplicaLogDirTopic(*each) for each in topics])
            for path, topics in places
        ]
        session.ask(label, AlterReplicaLogDirsRequest(dirs))

    ask("where it is", (here, [(topic, [0])]))
    ask("several", (here, [(topic, [0, 1, 2]), (other, [0])]))
    for path in ("/nowhere", "nowhere", "", "/", f"{here}/", f"{here}/x", "~", "a\0b"):
        shown = path.replace(here, "here")
        ask(f"to {shown!r}", (path, [(topic, [0])]))
        ask(f"unknown topic to {shown!r}", (path, [(none, [0])]))
    ask("unknown topic", (here, [(none, [0])]))
    ask("unknown partition", (here, [(topic, [3, -1])]))
    ask("good and bad", (here, [(topic, [0, 9]), (none, [0])]))
    for name in ("", ".", "a b", "__cluster_metadata", "__consumer_offsets"):
        ask(f"topic {name!r}", (here, [(name, [0])]))
    ask("nothing")
    ask("no topics", (here, []))
    ask("no partitions", (here, [(topic, [])]))
    ask("a partition twice", (here, [(topic, [0, 0])]))
    ask("a topic twice", (here, [(topic, [0]), (topic, [0])]))
    ask("a topic in two parts", (here, [(topic, [0]), (topic, [1])]))
    ask("a directory twice", (here, [(topic, [0])]), (here, [(topic, [1])]))
    ask("two directories", ("/nowhere", [(topic, [0])]), (here, [(topic, [1])]))
    ask("good, then bad", (here, [(topic, [0])]), ("/nowhere", [(topic, [0])]))
    ask("bad, then good", ("/nowhere", [(topic, [0])]), (here, [(topic, [0])]))
    after = DescribeLogDirsRequest([DescribableLogDirTopic(topic, [0, 1, 2])])
    session.ask("afterwards", after, version=4)
