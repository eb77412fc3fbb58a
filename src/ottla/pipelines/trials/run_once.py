"""One run of one pipeline on another cluster, in a process of its own, which can be killed.

python -m ottla.pipelines.trials.run_once FILE NAME SERVERS DIRECTORY
"""

from __future__ import annotations

import sys
from pathlib import Path

from ottla.pipelines.declaration.loading import load
from ottla.pipelines.running.service import PipelineService
from ottla.pipelines.running.session import open_session
from ottla.pipelines.trials.stage import moved


def main(file: str, name: str, servers: str, directory: str) -> int:
    declared = moved(load(file), servers, Path(directory))
    spark = open_session(declared)
    service = PipelineService(spark, declared, [name], once=True, on_report=lambda _: None)
    is_right = service.run()
    spark.stop()
    if failure := service.running[name].failure:
        print(failure, file=sys.stderr)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
