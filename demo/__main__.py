"""`python -m demo`: the whole run in one command.

Exit code 0 if everything matches, 1 if there are differences and checker and audit name the same, 2
if the run failed, 3 if checker and audit disagree, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from demo import scenario as scenarios
from demo.directory import DemoDirectory, NotADemoDirectory
from demo.requirements import find_missing

SABOTAGE = ("lake", "twice", "lost-and-doubled")
DIRECTORY = Path(".demo")
BROKERS = 3
BROKERS_MAX = 9


def main() -> int:
    arguments = parse_arguments()
    directory = DemoDirectory(arguments.directory)
    try:
        if arguments.clean:
            directory.clean()
            return 0
        if missing := find_missing():
            print(missing, file=sys.stderr)
            return 2
        # Imported here because it needs packages that may be missing.
        from demo.run import RunOptions, repair_last_run, run

        if arguments.repair:
            return repair_last_run(directory)
        scenario = scenarios.from_arguments(arguments)
        options = RunOptions(arguments.sabotage, arguments.stay, arguments.brokers)
        return run(scenario, directory, options)
    except (NotADemoDirectory, scenarios.InvalidScenario) as error:
        print(error, file=sys.stderr)
        return 2


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demo", description="Runs the demo.")
    scenarios.add_arguments(parser)
    parser.add_argument(
        "--directory", type=Path, default=DIRECTORY, help="for everything it makes (.demo)"
    )
    parser.add_argument(
        "--sabotage", choices=SABOTAGE, help="damage this before the check, which must notice"
    )
    parser.add_argument(
        "--brokers",
        type=int,
        choices=range(1, BROKERS_MAX + 1),
        default=BROKERS,
        metavar="N",
        help="brokers of the cluster (3); 1 is a broker without a cluster",
    )
    parser.add_argument(
        "--stay", action="store_true", help="keep brokers and Spark running until Ctrl-C"
    )
    parser.add_argument(
        "--repair", action="store_true", help="repair the lake of the last run, and check it again"
    )
    parser.add_argument("--clean", action="store_true", help="remove the directory and end")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
