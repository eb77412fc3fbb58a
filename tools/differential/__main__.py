"""Records Apache Kafka's responses, or compares our broker's with the recorded ones.

python -m tools.differential --record [SCRIPT ...]   needs Java and Maven
python -m tools.differential [SCRIPT ...]            prints differences, without the allowed ones
python -m tools.differential --page                  regenerates docs/reference/differences.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

from tests.compatibility.differential.allowed import no_longer_true, unexplained
from tests.compatibility.differential.comparing import Difference
from tests.compatibility.differential.differences import ALLOWED
from tests.compatibility.differential.judging import differences, served_runs
from tests.compatibility.differential.nodes import kafka_node, our_broker
from tests.compatibility.differential.page import PAGE, differences_page
from tests.compatibility.differential.recording import (
    compact,
    shown_versions,
    write_recording,
)
from tests.compatibility.differential.running import FAILED, run_all
from tests.compatibility.differential.scripting import Run, all_runs, all_scripts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.differential", description=__doc__)
    parser.add_argument("scripts", nargs="*", help="all of them if none is named")
    parser.add_argument("--record", action="store_true", help="renew Apache Kafka's answers")
    parser.add_argument("--all", action="store_true", help="show allowed differences too")
    parser.add_argument("--at", metavar="HOST:PORT", help="a broker that runs already")
    parser.add_argument("--page", action="store_true", help="renew the page of differences")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(differences_page(ALLOWED, served_runs(all_runs())))
        return 0
    runs = chosen_runs(options.scripts)
    if options.record:
        return record(runs, options.at)
    return show_differences(runs, options.at, options.all)


def chosen_runs(scripts: Sequence[str]) -> list[Run]:
    if unknown := set(scripts) - all_scripts().keys():
        sys.exit(f"no script is called {', '.join(sorted(unknown))}")
    return [run for run in all_runs() if not scripts or run.script.name in scripts]


def record(runs: Sequence[Run], address: str | None) -> int:
    if address is not None:
        answered = run_all(address, runs)
    else:
        with kafka_node() as node:
            answered = run_all(node.bootstrap, runs)
    failed = {run: answers[FAILED] for run, answers in answered.items() if FAILED in answers}
    for run, what in failed.items():
        print(run.name, what, sep=", ")
    for name in dict.fromkeys(run.script.name for run in runs):
        of_script = {run.version: a for run, a in answered.items() if run.script.name == name}
        if not any(run.script.name == name for run in failed):
            write_recording(name, of_script)
    print(f"{len(runs)} runs, {sum(map(len, answered.values()))} answers recorded")
    return 1 if failed else 0


def show_differences(runs: Sequence[Run], address: str | None, is_all: bool) -> int:
    if address is not None:
        answered = run_all(address, runs)
    else:
        with our_broker() as broker:
            answered = run_all(broker.bootstrap_servers, runs)
    found = differences(answered)
    unlisted = unexplained(found, ALLOWED)
    shown = found if is_all else unlisted
    print(*in_groups(shown), sep="\n")
    if set(runs) == set(all_runs()):
        print(
            *(f"no longer true: {each}" for each in no_longer_true(found, ALLOWED, runs)), sep="\n"
        )
    print(f"{sum(map(len, answered.values()))} answers, {len(found)} fields differ", end=", ")
    print(f"{len(unlisted)} unexplained")
    return 1 if shown else 0


def in_groups(differences: Iterable[Difference]) -> list[str]:
    """A paragraph for each request, one line for differences that several versions share."""
    groups: dict[tuple[str, str], dict[str, list[int]]] = {}
    for run, label, path, kafka, ours in differences:
        line = f"  {path or 'answer'}: Kafka {compact(kafka)}, ours {compact(ours)}"
        lines = groups.setdefault((run.script.name, label), {})
        lines.setdefault(line, []).append(run.version)
    return [
        "\n".join(
            [f"{script} | {label}", *(f"{line}  v{shown_versions(v)}" for line, v in lines.items())]
        )
        for (script, label), lines in groups.items()
    ]


if __name__ == "__main__":
    sys.exit(main())
