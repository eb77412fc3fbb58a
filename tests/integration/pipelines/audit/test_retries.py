"""An audit that runs all the time survives a pass that fails."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue

from tests.integration.pipelines.audit.lakes import create_lake, ingest
from tests.integration.pipelines.audit.topics import create, records, write

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.pipelines.audit.report_log import read_reports

PATIENCE_S = 120.0


def test_a_pass_that_failed_is_repeated(cluster: Cluster, tmp_path: Path) -> None:
    """A manifest of the table is damaged for a while."""
    topic = "audit-retries"
    create(cluster, topic)
    write(cluster, TopicPartition(topic, 0), records(0, 10))
    lake = tmp_path / "lake"
    ingest(cluster, create_lake(lake, "parquet"), topic, {0: (0, 10)}, 0)
    (manifest,) = (lake / "_ottla" / "manifests").glob("*.json")
    sound = manifest.read_bytes()
    audit = subprocess.Popen(
        [
            sys.executable, "-m", "ottla.cli.main", "audit", "run", topic, "--without-spark",
            "--every", "1s", "--lake", f"lake={lake}", "--report-topic", f"reports-{topic}",
            "--bootstrap", cluster.settings.bootstrap_servers,
        ],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    lines = heard(audit)
    try:
        wait_for(lines, "counted 10 records")
        manifest.write_bytes(b"damaged")
        assert "cannot be read" in wait_for(lines, "a pass failed, and is repeated")
        failed = read_reports(cluster, f"reports-{topic}")["lake.counted"]
        assert "cannot be read" in failed.failure
        assert failed.buckets, "what was counted before stays"
        manifest.write_bytes(sound)
        wait_for(lines, "counted 0 records")
        wait_for(lines, "counted 0 records")
        assert audit.poll() is None
        assert not read_reports(cluster, f"reports-{topic}")["lake.counted"].failure
    finally:
        audit.kill()
        audit.wait()


def heard(process: subprocess.Popen[str]) -> Queue[str]:
    lines: Queue[str] = Queue()

    def listen() -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                lines.put(line)

    threading.Thread(target=listen, daemon=True).start()
    return lines


def wait_for(lines: Queue[str], text: str) -> str:
    """The line; earlier ones are forgotten, queue.Empty if it does not come."""
    while True:
        line = lines.get(timeout=PATIENCE_S)
        if text in line:
            return line
