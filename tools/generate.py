"""Regenerates all generated files, or with --check reports outdated ones."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.messages.generate import generated_messages  # noqa: E402
from tools.oracles import check_agreement  # noqa: E402
from tools.reference.api_clients import api_clients_page, apis_without_a_story  # noqa: E402
from tools.reference.benchmark_plot import benchmark_plot  # noqa: E402
from tools.reference.configuration import configuration_page  # noqa: E402
from tools.reference.pipelines import pipelines_page  # noqa: E402
from tools.reference.planted_bugs import planted_bugs_page  # noqa: E402
from tools.reference.reliability import reliability_page  # noqa: E402
from tools.reference.spark_options import spark_options_page  # noqa: E402


def generated_files() -> dict[Path, str]:
    """Every generated file with its expected content."""
    reference = ROOT / "docs" / "reference"
    return generated_messages(ROOT) | {
        ROOT / "docs" / "images" / "benchmarks.svg": benchmark_plot(),
        reference / "configuration.md": configuration_page(),
        reference / "api-clients.md": api_clients_page(),
        reference / "planted-bugs.md": planted_bugs_page(),
        reference / "pipelines.md": pipelines_page(),
        reference / "reliability.md": reliability_page(),
        reference / "spark-options.md": spark_options_page(),
    }


def stale_files(wanted: dict[Path, str]) -> list[Path]:
    return [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]


def leftover_files(wanted: dict[Path, str]) -> list[Path]:
    """Files in generated folders without a schema."""
    folder = ROOT / "src" / "ottla" / "protocol" / "messages"
    return [path for path in folder.glob("*.py") if path not in wanted]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail if stale")
    is_check = parser.parse_args().check
    wanted = generated_files()
    stale, leftover = stale_files(wanted), leftover_files(wanted)
    for path in [*stale, *leftover]:
        print(f"{'stale' if is_check else 'renewed'}: {path.relative_to(ROOT)}")
    if is_check:
        problems = [*check_agreement(), *apis_without_a_story()]
        print(*problems, sep="\n", end="\n" if problems else "")
        return 1 if stale or leftover or problems else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path])
    for path in leftover:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
