"""Records Apache Kafka's responses, or compares our broker's with the recorded ones.

python -m tools.differential --record [SCRIPT ...]   needs Java and Maven
python -m tools.differential [SCRIPT ...]            prints differences, without the allowed ones
python -m tools.differential --cluster [--record]    the scripts about three brokers
python -m tools.differential --page                  regenerates docs/reference/differences.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence

from tests.compatibility.differential.allowed import no_longer_true, unexplained
from tests.compatibility.differential.cluster_differences import CLUSTER_ALLOWED
from tests.compatibility.differential.cluster_nodes import kafka_cluster, our_cluster
from tests.compatibility.differential.cluster_running import run_cluster_scripts
from tests.compatibility.differential.comparing import Difference
from tests.compatibility.differential.differences import ALLOWED
from tests.compatibility.differential.judging import differences
from tests.compatibility.differential.nodes import kafka_node, our_broker
from tests.compatibility.differential.page import PAGE, current_page
from tests.compatibility.differential.recording import (
    compact,
    shown_versions,
    write_recording,
)
from tests.compatibility.differential.running import FAILED, run_all
from tests.compatibility.differential.scripting import CLUSTER, Run, all_runs, all_scripts
from tests.compatibility.differential.session import Answers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.differential", description=__doc__)
    parser.add_argument("scripts", nargs="*", help="all of them if none is named")
    parser.add_argument("--record", action="store_true", help="renew Apache Kafka's answers")
    parser.add_argument("--all", action="store_true", help="show allowed differences too")
    parser.add_argument("--at", metavar="HOST:PORT", help="a broker that runs already")
    parser.add_argument("--cluster", action="store_true", help="scripts about three brokers")
    parser.add_argument("--page", action="store_true", help="renew the page of differences")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(current_page())
        return 0
    brokers = CLUSTER if options.cluster else 1
    runs = chosen_runs(options.scripts, brokers)
    if options.record:
        return record(runs, kafkas_answers(runs, options.at))
    return show_differences(runs, our_answers(runs, options.at), options.all)


def chosen_runs(scripts: Sequence[str], brokers: int) -> list[Run]:
    if unknown := set(scripts) - all_scripts(brokers).keys():
        sys.exit(f"no script about {brokers} brokers is called {', '.join(sorted(unknown))}")
    return [run for run in all_runs(brokers) if not scripts or run.script.name in scripts]


def kafkas_answers(runs: Sequence[Run], address: str | None) -> Mapping[Run, Answers]:
    if address is not None:
        return run_all(address, runs)
    if runs[0].script.brokers == CLUSTER:
        with kafka_cluster() as cluster:
            return run_cluster_scripts(cluster, runs)
    with kafka_node() as node:
        return run_all(node.bootstrap, runs)


def our_answers(runs: Sequence[Run], address: str | None) -> Mapping[Run, Answers]:
    if address is not None:
        return run_all(address, runs)
    if runs[0].script.brokers == CLUSTER:
        with our_cluster() as cluster:
            return run_cluster_scripts(cluster, runs)
    with our_broker() as broker:
        return run_all(broker.bootstrap_servers, runs)


def record(runs: Sequence[Run], answered: Mapping[Run, Answers]) -> int:
    failed = {run: answers[FAILED] for run, answers in answered.items() if FAILED in answers}
    for run, what in failed.items():
        print(run.name, what, sep=", ")
    for name in dict.fromkeys(run.script.name for run in runs):
        of_script = {run.version: a for run, a in answered.items() if run.script.name == name}
        if not any(run.script.name == name for run in failed):
            write_recording(name, of_script)
    print(f"{len(runs)} runs, {sum(map(len, answered.values()))} answers recorded")
    return 1 if failed else 0


def show_differences(runs: Sequence[Run], answered: Mapping[Run, Answers], is_all: bool) -> int:
    brokers = runs[0].script.brokers
    allowed = CLUSTER_ALLOWED if brokers == CLUSTER else ALLOWED
    found = differences(answered)
    unlisted = unexplained(found, allowed)
    shown = found if is_all else unlisted
    print(*in_groups(shown), sep="\n")
    if set(runs) == set(all_runs(brokers)):
        print(
            *(f"no longer true: {each}" for each in no_longer_true(found, allowed, runs)), sep="\n"
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
