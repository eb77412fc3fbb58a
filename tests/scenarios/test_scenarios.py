"""Each script in this folder is a test; the language is described in `README.md`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.language import ScenarioError, parse, read_script
from tests.scenarios.play import play

FOLDER = Path(__file__).parent
SCRIPTS = sorted(FOLDER.glob("*.scenario"))
SEEDS = (1, 2, 3)
CLUSTER = "cluster brokers=1,2,3 topic=t min_in_sync=2\n"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Brokers report each fault."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_it_happens_as_the_script_says(path: Path) -> None:
    script = read_script(path)
    for seed in SEEDS:
        play(script, seed)


def test_a_script_replays() -> None:
    script = read_script(FOLDER / "zombie_leader.scenario")
    assert play(script, 1).lines == play(script, 1).lines != play(script, 2).lines


WRONG = {
    "": "f:1: expected a line that begins with `cluster`, found the end of the line",
    "produce t-0": "f:1: expected a line that begins with `cluster`, found produce",
    "cluster topic=t": "f:1: expected `brokers=`, found the end of the line",
    "cluster brokers=1,x topic=t": "f:1: expected ids of brokers, as 1,2, or none, found 1,x",
    "cluster size=3": "f:1: expected `brokers=`, `topic=`, ",
    CLUSTER + "explode 1": "f:2: expected an action (produce, consume, ",
    CLUSTER + "\n# why\nkill all": "f:4: expected the id of a broker, as 1, found all",
    CLUSTER + "kill": "f:2: expected the id of a broker, as 1, found the end of the line",
    CLUSTER + "kill 1 2": "f:2: expected no option, found 2",
    CLUSTER + 'produce t-0 "a" ack=all': "f:2: expected `acks=`, `at=`, found ack=all",
    CLUSTER + 'produce t-0 "a': "f:2: expected a closing quotation mark, found \"a",
    CLUSTER + "advance 30": "f:2: expected a duration, as 30s, 200ms or 2m, found 30",
    CLUSTER + "kill 1 ->": "f:2: expected an expectation after ->, found the end of the line",
    CLUSTER + "kill 1 -> offset 0": "f:2: expected a state, or a result of an action, found `off",
    CLUSTER + "kill 1 -> boss t-0 = 1": "f:2: expected an expectation (offset, error, ",
    CLUSTER + "-> leader t-0 1": "f:2: expected = or !=, found 1",
    CLUSTER + "-> leader t = 1": "f:2: expected a partition, as t-0, found t",
    CLUSTER + "-> leader t-0 = 1 2": "f:2: expected ; or the end of the line, found 2",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_a_script_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse(text, "f")
    assert str(refused.value).startswith(WRONG[text])


# What a script says must be able to be wrong.
NOT_SO = {
    '-> leader t-0 = 2': "f:2: expected leader t-0 = 2, found 1",
    '-> in_sync t-0 != 1,2,3': "f:2: expected in_sync t-0 != 1,2,3, found 1,2,3",
    'produce t-0 "a" -> offset 1': "f:2: expected offset 1, found offset 0",
    'produce t-0 "a" -> error NOT_ENOUGH_REPLICAS': "f:2: expected error NOT_ENOUGH_REP",
    'produce t-0 "a"\nconsume t-0 -> records "b"': 'f:3: expected records "b", found records "a"',
    'produce t-0 "a" at=2': "f:2: expected no error, found error NOT_LEADER_OR_FOLLOWER",
    'kill 1 -> now leader t-0 = 2': "f:2: expected now leader t-0 = 2, found no controller",
    "-> controller = 3": "f:2: expected controller = 3, found 1",
}  # fmt: skip


@pytest.mark.parametrize("text", NOT_SO)
def test_what_is_not_as_the_script_says_is_reported(text: str) -> None:
    with pytest.raises(ScenarioError) as wrong:
        play(parse(CLUSTER + text, "f"), 1)
    assert str(wrong.value).startswith(NOT_SO[text])


def test_acknowledged_records_that_are_lost_are_found_at_the_end() -> None:
    text = """cluster brokers=1,2 topic=t replicas=2
        stop 2
        produce t-0 "a" acks=all
        set t unclean.leader.election.enable=true
        stop 1; start 2; advance 5m -> leader t-0 = 2"""
    with pytest.raises(ScenarioError, match='f:6: expected "a" at t-0 0, as acknowledged'):
        play(parse(text, "f"), 1)
