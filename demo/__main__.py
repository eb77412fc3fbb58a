"""`python -m demo`: the whole story in one command.

Exit code 0 if the books balance, 1 if anything differs, 2 if the story could not be told to its
end, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from demo import scenario as scenarios
from demo.place import NotADemoDirectory, Place
from demo.requirements import find_missing

SABOTAGE = ("lake",)
DIRECTORY = Path(".demo")


def main() -> int:
    arguments = parse_arguments()
    place = Place(arguments.directory)
    try:
        if arguments.clean:
            place.clean()
            return 0
        if missing := find_missing():
            print(missing, file=sys.stderr)
            return 2
        # Not before: it needs what may have been missing.
        from demo.run import Wishes, run

        scenario = scenarios.from_arguments(arguments)
        return run(scenario, place, Wishes(arguments.sabotage, arguments.stay))
    except (NotADemoDirectory, scenarios.WrongSize) as error:
        print(error, file=sys.stderr)
        return 2


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m demo", description="The main job in a story.")
    scenarios.add_arguments(parser)
    parser.add_argument(
        "--directory", type=Path, default=DIRECTORY, help="for everything it makes (.demo)"
    )
    parser.add_argument(
        "--sabotage", choices=SABOTAGE, help="damage this before the check, which must notice"
    )
    parser.add_argument(
        "--stay", action="store_true", help="keep broker and Spark running until Ctrl-C"
    )
    parser.add_argument("--clean", action="store_true", help="remove the directory and end")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
