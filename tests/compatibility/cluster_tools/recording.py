"""What Kafka's tools print on three brokers of Apache Kafka, recorded.

python -m tests.compatibility.cluster_tools.recording          renews the recordings
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from tests.compatibility.cluster_tools.playing import FAILED, play_all
from tests.compatibility.cluster_tools.session import Outcomes
from tests.compatibility.cluster_tools.trios import kafka_trio
from tests.support.oracle import Oracle

RECORDED = Path(__file__).parent / "recorded"


def read_recording(story: str) -> Outcomes:
    outcomes: Outcomes = json.loads((RECORDED / f"{story}.json").read_text())
    return outcomes


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="oracle-") as folder,
        Oracle(Path(folder) / "oracle.log") as oracle,
        kafka_trio() as trio,
    ):
        played = play_all(trio, oracle)
    for story, outcomes in played.items():
        assert FAILED not in outcomes, outcomes[FAILED]
        RECORDED.mkdir(exist_ok=True)
        (RECORDED / f"{story}.json").write_text(json.dumps(outcomes, indent=1) + "\n")


if __name__ == "__main__":
    main()
