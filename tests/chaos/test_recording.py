"""What a client records is what the checker reads, also after `kill -9`."""

from __future__ import annotations

from pathlib import Path

from tests.chaos.checker.history import (
    Assign,
    Observation,
    Poll,
    Quantity,
    Read,
    Result,
    Send,
    Subscribe,
)
from tests.chaos.clients.values import copied, decode, encode, source_of
from tests.chaos.recording import Recorder, read_history, read_notes, undelivered


def test_operations_and_observations_are_read_as_they_were_recorded(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "client.jsonl")
    recorder.assigned()
    recorder.subscribed()
    operation = recorder.begin(is_transaction=True)
    recorder.poll(operation, [Read("k-0", 3, "a")], rebalanced=True)
    recorder.send(operation, "l-0", "b")
    recorder.send(operation, "l-0", "c")
    recorder.sent(operation, "c", 7)
    recorder.end(operation, Result.FAILED)
    recorder.polled([Read("k-0", 4, "d")])
    recorder.observe(Quantity.LEADER_EPOCH, "k-0", 2)
    recorder.note("a note")
    recorder.close()
    history = read_history([tmp_path / "client.jsonl"])
    assert [(each.steps, each.result, each.is_transaction) for each in history.operations] == [
        ((Assign(),), Result.OK, False),
        ((Subscribe(),), Result.OK, False),
        (
            (Poll((Read("k-0", 3, "a"),), True), Send("l-0", "b"), Send("l-0", "c", 7)),
            Result.FAILED,
            True,
        ),
        ((Poll((Read("k-0", 4, "d"),)),), Result.OK, False),
    ]
    assert {each.process for each in history.operations} == {"client"}
    assert all(each.start_s <= each.end_s for each in history.operations)
    (seen,) = history.observations
    assert seen == Observation("client", seen.time_s, Quantity.LEADER_EPOCH, "k-0", 2)
    assert [each.partition(" ")[2] for each in read_notes(tmp_path.iterdir())] == ["client: a note"]


def test_the_result_of_what_a_killed_client_has_begun_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "client.jsonl"
    recorder = Recorder(path)
    recorder.send(recorder.begin(), "k-0", "a")
    recorder.send(recorder.begin(), "k-0", "b")
    recorder.close()
    path.write_bytes(path.read_bytes()[:-3])  # killed while it wrote
    first, second = read_history([path]).operations
    assert (first.steps, first.result, first.end_s) == (
        (Send("k-0", "a"),),
        Result.UNKNOWN,
        float("inf"),
    )
    assert second.steps == ()


def test_records_that_were_given_up_are_found_among_the_notes(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "client.jsonl")
    for text in ("p:1 was not delivered: fenced", "finished", "p:2 was not sent: closed"):
        recorder.note(text)
    recorder.close()
    first, second = undelivered(read_notes(tmp_path.iterdir()))
    assert first.endswith("client: p:1 was not delivered: fenced")
    assert second.endswith("client: p:2 was not sent: closed")


def test_values_have_a_name_and_a_checksum() -> None:
    data = encode("p:1", 100)
    assert decode(data) == "p:1"
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1
        assert decode(bytes(damaged)).startswith("damaged ")
    assert decode(None).startswith("damaged ")
    assert source_of(copied("p:1", "c", 5)) == "p:1"
