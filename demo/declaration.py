"""The pipeline file of a run: `pipelines.yaml` of this folder with the addresses of the run."""

from __future__ import annotations

from importlib import resources
from string import Template

from demo.directory import DemoDirectory
from demo.scenario import MINUTE_MS, Scenario


def write_pipelines(directory: DemoDirectory, scenario: Scenario, bootstrap_servers: str) -> None:
    template = Template((resources.files("demo") / "pipelines.yaml").read_text())
    text = template.substitute(
        servers=bootstrap_servers,
        directory=directory.root,
        watermark=f"{scenario.watermark_ms // MINUTE_MS}m",
    )
    directory.pipelines.write_text(text)
