"""Every request of the scripts is answered as Apache Kafka answers it, or the difference is listed.

Kafka's answers were recorded (`python -m tools.differential --record`). Where Java is installed, a
tenth of them is recorded again, to verify that Kafka still answers like that: always the same tenth
in ordinary runs, a random one in CI and in long runs.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from tests.compatibility.differential.allowed import no_longer_true, unexplained
from tests.compatibility.differential.comparing import Difference, compare
from tests.compatibility.differential.differences import ALLOWED
from tests.compatibility.differential.judging import differences, served_runs
from tests.compatibility.differential.nodes import kafka_node, our_broker
from tests.compatibility.differential.page import PAGE, current_page
from tests.compatibility.differential.recording import path_of, read_recording
from tests.compatibility.differential.running import run_all
from tests.compatibility.differential.scripting import CLUSTER, Run, all_runs, all_scripts
from tests.compatibility.differential.session import Answers
from tests.support.long_run import VARIABLE as LONG_RUN

from ottla.handlers.serving.served_apis import SERVED

# One worker runs the scripts once, and all tests look at what was answered.
pytestmark = pytest.mark.xdist_group("differential")
SEED_VARIABLE = "OTTLA_DIFFERENTIAL_SEED"
USUAL_SEED = 1
LIVE_SHARE = 10
SHOWN_MAX = 40


@pytest.fixture(scope="module")
def answered() -> Iterator[dict[Run, Answers]]:
    """What our broker answered. It must not have met a bug meanwhile."""
    with our_broker() as broker:
        yield run_all(broker.bootstrap_servers, served_runs(all_runs()))
        assert "Traceback" not in broker.log, broker.log[-20_000:]


@pytest.fixture(scope="module")
def found(answered: dict[Run, Answers]) -> list[Difference]:
    return differences(answered)


@pytest.mark.parametrize("script", all_scripts())
def test_answers_are_kafkas(script: str, found: list[Difference]) -> None:
    of_script = [each for each in found if each.run.script.name == script]
    unlisted = [str(each) for each in unexplained(of_script, ALLOWED)]
    assert not unlisted, "\n".join([f"{len(unlisted)} fields differ", *unlisted[:SHOWN_MAX]])


def test_every_allowed_difference_still_differs(found: list[Difference]) -> None:
    stale = no_longer_true(found, ALLOWED, served_runs(all_runs()))
    assert not stale, "\n".join(stale)


def test_every_served_api_has_a_script_in_every_version() -> None:
    tried = {(run.script.key, run.version) for run in all_runs()}
    missing = [
        f"{key.name} v{version}"
        for key, api in SERVED.items()
        for version in api.versions
        if (key, version) not in tried
    ]
    assert not missing


def test_every_script_was_recorded_in_every_version() -> None:
    runs = [*all_runs(), *all_runs(CLUSTER)]
    unrecorded = [run.name for run in runs if run.version not in read_recording(run.script.name)]
    assert not unrecorded, "python -m tools.differential --record"
    folder = path_of("any").parent
    scripts = {*all_scripts(), *all_scripts(CLUSTER)}
    assert {path.stem for path in folder.glob("*.json")} == scripts


def test_the_page_of_differences_is_fresh() -> None:
    assert PAGE.read_text() == current_page(), "python -m tools.differential --page"


@pytest.mark.java
def test_a_tenth_of_the_recordings_is_what_kafka_says_now() -> None:
    chance = random.SystemRandom().randrange(2**32) if os.environ.get(LONG_RUN) else USUAL_SEED
    seed = int(os.environ.get(SEED_VARIABLE) or chance)
    print(f"{SEED_VARIABLE}={seed}")
    runs = all_runs()
    chosen = random.Random(seed).sample(runs, len(runs) // LIVE_SHARE)
    with kafka_node() as node:
        live = run_all(node.bootstrap, chosen)
    other = [
        str(difference)
        for run, answers in live.items()
        for difference in compare(
            run, read_recording(run.script.name).get(run.version, {}), answers
        )
    ]
    assert not other, "\n".join([f"{SEED_VARIABLE}={seed}", *other[:SHOWN_MAX]])
