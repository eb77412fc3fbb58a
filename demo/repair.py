"""`make demo REPAIR=1`: the lake of the last run is repaired by the command that the audit prints.

Promises  only the product's own verbs change the lake; checker and audit then look at everything
          again. The brokers are started from the data of the run.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager

from demo.audit import Audit, ottla
from demo.brokers import DemoBrokers
from demo.declaration import write_pipelines
from demo.directory import DemoDirectory
from demo.page import draw_page
from demo.recording import Recording, load, save
from demo.terminal import Terminal
from demo.verification import Outcome, verify


def repair(directory: DemoDirectory, terminal: Terminal) -> Outcome:
    with last_run(directory) as (recording, servers):
        terminal.say(f"the brokers of the last run are back on {servers}")
        recording.repair = repair_lake(directory, servers, terminal)
        found = verify(recording, directory, servers, terminal)
    save(recording, directory.recording)
    directory.page.write_text(draw_page(recording))
    return found


@contextmanager
def last_run(directory: DemoDirectory) -> Iterator[tuple[Recording, str]]:
    """Its recording, and the addresses of its brokers, which run until the block ends."""
    directory.reopen()
    recording = load(directory.recording)
    brokers = DemoBrokers(directory.broker, recording.brokers)
    try:
        brokers.start()
        write_pipelines(directory, recording.scenario, brokers.bootstrap_servers)
        yield recording, brokers.bootstrap_servers
    finally:
        brokers.close()
        directory.release()


def repair_lake(directory: DemoDirectory, servers: str, terminal: Terminal) -> str | None:
    """The command that was run; None if the audit names none."""
    audit = Audit(directory, servers)
    audit.run()
    command = audit.drill()["repair"]
    if command is None:
        terminal.say("ottla audit drill names nothing to repair")
        return None
    terminal.say("ottla audit drill prints the repair, which is run:")
    terminal.plain(f"\n$ {command}\n{ottla(shlex.split(command)[1:])}")
    return str(command)
