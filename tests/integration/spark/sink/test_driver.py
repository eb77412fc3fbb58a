"""Deciding, committing, aborting and recovering on real brokers, without Spark around it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from tests.integration.spark.sink.committed_records import committed_values
from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.admin.list_offsets import latest_offsets
from ottla.client.admin.topics import NewTopic, create_topics, delete_records, delete_topics
from ottla.client.admin.transactions import (
    NO_PRODUCER,
    ListedTransaction,
    ProducerIdentity,
    describe_transactions,
    end_transaction,
    init_producer_id,
    list_transactions,
)
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ConnectionLost
from ottla.client.settings import READ_UNCOMMITTED, ClientSettings
from ottla.config.options import DAY_MS
from ottla.spark.options.producer_options import ProducerOptions
from ottla.spark.options.sink_options import SinkOptions
from ottla.spark.sink.decision_log import DecisionLog
from ottla.spark.sink.decisions import DECISION, NOTHING_DECIDED, TaskTransaction, Written, key_of
from ottla.spark.sink.driver import SinkDriver
from ottla.spark.sink.errors import (
    LostTransactions,
    SinkError,
    SinkTakenOver,
    StaleBatch,
    TornBatch,
)
from ottla.spark.sink.input_columns import SinkColumns
from ottla.spark.sink.messages import Started
from ottla.spark.sink.names import driver_id, task_id
from ottla.spark.sink.outcomes import TransactionOutcome, outcome_of
from ottla.spark.sink.plan import BatchOfQuery, TaskAction, plan_task
from ottla.spark.sink.setup import SinkSetup
from ottla.spark.sink.task_writer import TaskAttempt, TaskWriter
from ottla.testing.broker import RunningBroker

pytestmark = pytest.mark.xdist_group("apache-kafka")


class Sink:
    """One query's sink, as its processes see it."""

    def __init__(self, cluster: Cluster, settings: ClientSettings, topic: str) -> None:
        self.name = f"sink-of-{topic}"
        self.topic = topic
        self.cluster = cluster
        columns = SinkColumns(topic, has_key=True, has_headers=False, has_partition=False)
        self.setup = SinkSetup(SinkOptions(topic=topic), ProducerOptions(), settings, columns)

    def driver(self, **options: object) -> SinkDriver:
        changed = replace(self.setup.options, **options)  # type: ignore[arg-type]
        return SinkDriver(self.cluster, replace(self.setup, options=changed), self.name)

    def write(
        self, task: int, values: list[str], attempt: int = 0, started: Started | None = None
    ) -> TaskTransaction:
        """As a task of the driver that started last, unless another is given."""
        keys = [value.encode() for value in values]
        rows = pa.record_batch({"key": pa.array(keys), "value": pa.array(values)})
        place = TaskAttempt(task, attempt)
        transaction = TaskWriter(self.setup, started or self.started(), place).write([rows])
        assert transaction is not None
        return transaction

    def started(self) -> Started:
        own_id = driver_id(self.name)
        found = describe_transactions(self.cluster, [own_id]).get(own_id)
        return Started(self.name, found.identity if found else NO_PRODUCER, NOTHING_DECIDED)

    def committed(self) -> list[str]:
        return committed_values(self.setup.settings.bootstrap_servers, self.topic)

    def open_ids(self) -> list[str]:
        listed = list_transactions(self.cluster, id_prefix=self.name, states=["Ongoing"])
        return [each.transactional_id for each in listed]


@pytest.fixture
def sink(cluster: Cluster, settings: ClientSettings, new_topic: Callable[..., str]) -> Sink:
    return Sink(cluster, settings, new_topic())


def batch(number: int, query: str = "query") -> BatchOfQuery:
    return BatchOfQuery(query, number)


def identity(transaction: TaskTransaction) -> ProducerIdentity:
    return ProducerIdentity(transaction.producer_id, transaction.producer_epoch)


def test_what_tasks_write_is_seen_once_it_is_committed(sink: Sink) -> None:
    driver = sink.driver()
    started = driver.start()
    written = [sink.write(0, ["a", "b"]), sink.write(1, ["c"])]
    assert sink.committed() == []
    driver.commit(started, batch(0, sink.topic), written)
    assert sink.committed() == ["a", "b", "c"]
    assert sum(each.records for one in written for each in one.written) == 3


def test_one_driver_writes_batch_after_batch(sink: Sink) -> None:
    for number, value in enumerate("abc"):
        driver = sink.driver()
        started = driver.start()
        assert plan_task(started.state, batch(number, sink.topic)) is TaskAction.WRITE
        driver.commit(started, batch(number, sink.topic), [sink.write(0, [value])])
    assert sink.committed() == ["a", "b", "c"]


def test_a_batch_that_runs_again_after_its_decision_writes_nothing(sink: Sink) -> None:
    driver = sink.driver()
    driver.commit(driver.start(), batch(3, sink.topic), [sink.write(0, ["a"])])
    again = sink.driver()
    started = again.start()
    assert plan_task(started.state, batch(3, sink.topic)) is TaskAction.SKIP
    again.commit(started, batch(3, sink.topic), [])
    assert sink.committed() == ["a"]


def test_even_if_its_tasks_have_written_they_do_not_count(sink: Sink) -> None:
    driver = sink.driver()
    driver.commit(driver.start(), batch(3, sink.topic), [sink.write(0, ["a"])])
    again = sink.driver()
    started = again.start()
    again.commit(started, batch(3, sink.topic), [sink.write(0, ["other", "rows"])])
    assert sink.committed() == ["a"]
    assert sink.open_ids() == []


def test_a_query_that_went_back_is_refused_and_another_query_is_not(sink: Sink) -> None:
    driver = sink.driver()
    driver.commit(driver.start(), batch(3, sink.topic), [sink.write(0, ["a"])])
    driver = sink.driver()
    started = driver.start()
    with pytest.raises(StaleBatch):
        driver.commit(started, batch(2, sink.topic), [sink.write(0, ["b"])])
    started = driver.start()
    driver.commit(started, batch(0, f"new {sink.topic}"), [sink.write(0, ["c"])])
    assert sink.committed() == ["a", "c"]


def test_a_start_aborts_what_a_dead_driver_left_undecided(sink: Sink) -> None:
    sink.driver().start()
    sink.write(0, ["lost"])
    sink.write(1, ["too"], attempt=2)
    assert len(sink.open_ids()) == 2
    driver = sink.driver()
    started = driver.start()
    assert sink.open_ids() == []
    driver.commit(started, batch(0, sink.topic), [sink.write(0, ["a"])])
    assert sink.committed() == ["a"]


@pytest.mark.parametrize("committed_before", [0, 1, 2])
def test_a_start_finishes_what_a_dead_driver_decided(sink: Sink, committed_before: int) -> None:
    driver = sink.driver()
    started = driver.start()
    written = [sink.write(0, ["a"]), sink.write(1, ["b"])]
    decide_without_committing(sink, started.driver, batch(5, sink.topic), written)
    for transaction in written[:committed_before]:
        end_transaction(
            sink.cluster, transaction.transactional_id, identity(transaction), commit=True
        )
    restarted = sink.driver().start()
    assert plan_task(restarted.state, batch(5, sink.topic)) is TaskAction.SKIP
    assert sink.committed() == ["a", "b"]


def decide_without_committing(
    sink: Sink, driver: ProducerIdentity, wanted: BatchOfQuery, written: list[TaskTransaction]
) -> None:
    from ottla.spark.sink.decisions import CommitDecision

    decision = CommitDecision(sink.name, wanted.query, wanted.batch, tuple(written))
    log = DecisionLog(sink.cluster, sink.setup.options.decisions_topic)
    log.write(driver_id(sink.name), driver, decision)


def test_a_driver_that_was_taken_over_decides_nothing(sink: Sink) -> None:
    zombie = sink.driver()
    before = zombie.start()
    sink.write(0, ["zombie"])
    driver = sink.driver()
    started = driver.start()
    late = sink.write(1, ["late"])
    with pytest.raises(SinkTakenOver, match="Another driver writes under the sink name"):
        zombie.commit(before, batch(0, sink.topic), [late])
    with pytest.raises(SinkTakenOver):
        zombie.abort(before, [late])
    driver.commit(started, batch(0, sink.topic), [sink.write(0, ["a"])])
    assert sink.committed() == ["a"]


def test_attempts_never_end_each_others_transactions(sink: Sink) -> None:
    driver = sink.driver()
    started = driver.start()
    first = sink.write(0, ["a"])
    same_numbers = sink.write(0, ["b"])  # as when a stage is tried again
    speculative = sink.write(0, ["c"], attempt=1)
    assert len({first.transactional_id, same_numbers.transactional_id}) == 2
    driver.commit(started, batch(0, sink.topic), [first])
    assert sink.committed() == ["a"]
    assert sink.open_ids() == []
    assert speculative.transactional_id != first.transactional_id


def test_a_transaction_that_ended_before_the_decision_stops_the_batch(sink: Sink) -> None:
    driver = sink.driver()
    started = driver.start()
    written = [sink.write(0, ["a"]), sink.write(1, ["b"])]
    init_producer_id(sink.cluster, written[1].transactional_id)
    with pytest.raises(LostTransactions, match="1 of 2 transactions"):
        driver.commit(started, batch(0, sink.topic), written)
    driver.abort(started, written)
    assert sink.committed() == []
    assert sink.open_ids() == []


def test_a_transaction_whose_id_another_attempt_has_opened_since_stops_the_batch(
    sink: Sink,
) -> None:
    driver = sink.driver()
    started = driver.start()
    written = [sink.write(0, ["a"]), sink.write(1, ["b"])]
    init_producer_id(sink.cluster, written[1].transactional_id)
    later = sink.write(1, ["c"])
    assert later.transactional_id == written[1].transactional_id
    with pytest.raises(LostTransactions, match="1 of 2 transactions"):
        driver.commit(started, batch(0, sink.topic), written)
    driver.abort(started, [*written, later])
    assert sink.committed() == []
    assert sink.open_ids() == []


@pytest.mark.parametrize("torn", [0, 1, 2])
def test_of_several_refused_transactions_each_is_looked_for(sink: Sink, torn: int) -> None:
    """All but one were committed, and their ids were used again."""
    started = sink.driver().start()
    written = [sink.write(task, [value]) for task, value in enumerate("abc")]
    decide_without_committing(sink, started.driver, batch(5, sink.topic), written)
    for task, each in enumerate(written):
        if task != torn:
            end_transaction(sink.cluster, each.transactional_id, identity(each), commit=True)
        init_producer_id(sink.cluster, each.transactional_id)
    place = written[torn].written[0]
    missing = f"Missing: {sink.topic}-{place.partition} offsets {place.first_offset} to"
    with pytest.raises(TornBatch, match=missing):
        sink.driver().start()


def test_a_torn_batch_stops_the_query_until_it_is_accepted(sink: Sink) -> None:
    driver = sink.driver()
    started = driver.start()
    written = [sink.write(0, ["a"]), sink.write(1, ["b", "b2"])]
    decide_without_committing(sink, started.driver, batch(5, sink.topic), written)
    init_producer_id(sink.cluster, written[1].transactional_id)  # as its timeout would
    place = written[1].written[0]
    reported = f"{sink.topic}-{place.partition} offsets {place.first_offset} to {place.last_offset}"
    for _ in range(2):
        with pytest.raises(TornBatch) as raised:
            sink.driver().start()
        assert f"Missing: {reported}" in str(raised.value)
    driver = sink.driver(accept_torn_batch=5)
    started = driver.start()
    driver.commit(started, batch(6, sink.topic), [sink.write(0, ["c"])])
    sink.driver().start()
    assert sink.committed() == ["a", "c"]


def test_a_refused_transaction_does_not_hold_up_the_others(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Finding out its outcome may take long, or no broker may answer."""

    def no_broker_answers(*_: object) -> None:
        raise ConnectionLost("a leader", "Fetch", "it is away")

    monkeypatch.setattr("ottla.spark.sink.driver.outcome_of", no_broker_answers)
    started = sink.driver().start()
    written = [sink.write(task, [value]) for task, value in enumerate("abc")]
    decide_without_committing(sink, started.driver, batch(5, sink.topic), written)
    init_producer_id(sink.cluster, written[0].transactional_id)  # as its timeout would
    with pytest.raises(ConnectionLost):
        sink.driver().start()
    assert sink.committed() == ["b", "c"]


def test_a_commit_that_was_made_is_known_even_if_the_id_was_used_again(sink: Sink) -> None:
    """Or if the coordinator has forgotten it: the log shows that nothing is torn, even while
    others hold back what is stable."""
    driver = sink.driver()
    started = driver.start()
    sink.write(7, ["never decided"])
    written = [sink.write(0, ["a"]), sink.write(1, ["b"])]
    decide_without_committing(sink, started.driver, batch(5, sink.topic), written)
    for each in written:
        end_transaction(sink.cluster, each.transactional_id, identity(each), commit=True)
        init_producer_id(sink.cluster, each.transactional_id)
    assert sink.driver().start().state.decision is not None
    assert sink.committed() == ["a", "b"]


def test_a_decided_transaction_that_timed_out_is_reported_as_torn(
    sink: Sink, request: pytest.FixtureRequest
) -> None:
    if "kafka" in request.node.callspec.id:
        pytest.skip("it looks for such transactions every ten seconds only")
    sink.setup = replace(sink.setup, producer=ProducerOptions(transaction_timeout_ms=1))
    driver = sink.driver()
    started = driver.start()
    written = sink.write(0, ["a"])
    decide_without_committing(sink, started.driver, batch(5, sink.topic), [written])
    wait_until(lambda: sink.open_ids() == [], "the transaction times out")
    with pytest.raises(TornBatch, match="1 of its 1 transactions"):
        sink.driver().start()


def test_a_batch_write_without_a_name_is_finished_by_the_next_one(sink: Sink) -> None:
    """Nothing else would: its driver died, and no restart has its name."""
    sink.name = f"batch-{sink.topic}"
    started = sink.driver().start()
    written = [sink.write(0, ["a"]), sink.write(1, ["b"])]
    decide_without_committing(sink, started.driver, batch(0, sink.topic), written)
    log = DecisionLog(sink.cluster, sink.setup.options.decisions_topic)
    wait_until(lambda: sink.name in log.read().sinks(), "the decision's marker is written")
    other = Sink(sink.cluster, sink.setup.settings, sink.topic)
    other.name = f"batch-other-{sink.topic}"
    other.driver().start()
    assert sink.committed() == ["a", "b"]
    assert sink.name not in log.read().sinks()


def test_what_a_newer_release_decided_is_left_to_it(sink: Sink) -> None:
    decisions = f"decisions-of-{sink.topic}"
    sink.name = f"batch-{sink.topic}"
    sink.driver(decisions_topic=decisions).start()
    newer = f"batch-newer-{sink.topic}"
    log = DecisionLog(sink.cluster, decisions)
    log._append({key_of(DECISION, newer): b'{"version":99,"query":"of tomorrow"}'})
    driver = sink.driver(decisions_topic=decisions)
    started = driver.start()
    driver.commit(started, batch(0, sink.topic), [sink.write(0, ["a"])])
    assert sink.committed() == ["a"]
    assert newer in log.read().sinks()


def test_a_topic_that_is_missing_is_created_where_brokers_do_that(ottla: RunningBroker) -> None:
    settings = ClientSettings(ottla.bootstrap_servers)
    with Cluster(settings) as cluster:
        sink = Sink(cluster, settings, f"not-there-before-{uuid4()}")
        driver = sink.driver()
        driver.commit(driver.start(), batch(0, sink.topic), [sink.write(0, ["a"])])
        assert sink.committed() == ["a"]


def test_a_missing_topic_is_reported_by_name_without_auto_creation() -> None:
    with RunningBroker(config={"auto.create.topics.enable": "false"}) as broker:
        settings = ClientSettings(broker.bootstrap_servers)
        with (
            Cluster(settings) as cluster,
            pytest.raises(SinkError, match="The topic no-such-topic does not exist: create it"),
        ):
            Sink(cluster, settings, "no-such-topic").write(0, ["a"])


def test_an_abort_after_a_failed_commit_leaves_the_decision_in_force(sink: Sink) -> None:
    driver = sink.driver()
    started = driver.start()
    written = [sink.write(0, ["a"]), sink.write(1, ["b"])]
    decide_without_committing(sink, started.driver, batch(0, sink.topic), written)
    driver.abort(started, written)
    assert sink.committed() == ["a", "b"]


def test_an_abort_takes_back_what_was_written(sink: Sink) -> None:
    driver = sink.driver()
    started = driver.start()
    written = sink.write(0, ["a"])
    sink.write(1, ["of a task whose message was lost"])
    driver.abort(started, [written])
    assert sink.committed() == []
    assert sink.open_ids() == []


@pytest.mark.parametrize("is_committed", [True, False])
def test_an_attempt_that_begins_after_its_write_has_ended_leaves_nothing_open(
    sink: Sink, is_committed: bool
) -> None:
    """Spark had killed it, but it continued for a while: otherwise nothing would end it."""
    driver = sink.driver()
    started = driver.start()
    written = sink.write(0, ["a"])
    if is_committed:
        driver.commit(started, batch(0, sink.topic), [written])
    else:
        driver.abort(started, [written])
    with pytest.raises(SinkTakenOver, match="The write of this attempt has ended"):
        sink.write(1, ["late"], started=started)
    assert sink.open_ids() == []
    assert sink.committed() == ["a"] * is_committed


def test_a_late_attempt_takes_no_id_from_the_attempts_of_a_new_driver(sink: Sink) -> None:
    """One of those has just got the id, and has not begun to write."""
    before = sink.driver().start()
    sink.driver().start()
    own_id = task_id(sink.name, 0, 0, 0)
    taken = init_producer_id(sink.cluster, own_id)
    with pytest.raises(SinkTakenOver):
        sink.write(0, ["late"], started=before)
    assert describe_transactions(sink.cluster, [own_id])[own_id].identity == taken


def test_the_end_of_a_write_does_not_fence_who_has_taken_over(sink: Sink) -> None:
    zombie = sink.driver()
    before = zombie.start()
    driver = sink.driver()
    started = driver.start()
    written = sink.write(0, ["a"])
    zombie.commit(before, batch(0, sink.topic), [])  # it had nothing to decide
    driver.commit(started, batch(0, sink.topic), [written])
    assert sink.committed() == ["a"]


def test_nor_does_it_abort_the_decision_that_one_is_writing(
    sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    zombie = sink.driver()
    before = zombie.start()
    driver = sink.driver()
    started = driver.start()

    def end_after_the_zombie(*words: Any, **options: Any) -> None:
        zombie.commit(before, batch(0, sink.topic), [])
        end_transaction(*words, **options)

    monkeypatch.setattr("ottla.spark.sink.decision_log.end_transaction", end_after_the_zombie)
    driver.commit(started, batch(0, sink.topic), [sink.write(0, ["a"])])
    assert sink.committed() == ["a"]


@pytest.mark.parametrize("is_starting", [True, False])
def test_a_driver_that_paused_does_not_fence_the_attempts_of_its_successor(
    sink: Sink, monkeypatch: pytest.MonkeyPatch, is_starting: bool
) -> None:
    """It has seen which ids are open. Its successor's attempts use the same ones."""
    paused, successor = sink.driver(), sink.driver()
    started: list[Started] = []
    written: list[TaskTransaction] = []

    def list_and_pause(*words: Any, **options: Any) -> list[ListedTransaction]:
        found = list_transactions(*words, **options)
        monkeypatch.setattr("ottla.spark.sink.driver.list_transactions", list_transactions)
        started.append(successor.start())
        written.append(sink.write(0, ["a"]))
        assert [each.transactional_id for each in found] == [written[0].transactional_id]
        return found

    before = paused.start()
    sink.write(0, ["of a killed attempt"])
    monkeypatch.setattr("ottla.spark.sink.driver.list_transactions", list_and_pause)
    if is_starting:
        sink.driver().start()
    else:
        paused.abort(before, [])
    successor.commit(started[0], batch(0, sink.topic), written)
    assert sink.committed() == ["a"]


def test_more_replicas_than_a_topic_has_are_not_waited_for(
    cluster: Cluster, settings: ClientSettings, new_topic: Callable[..., str]
) -> None:
    """As Apache Kafka has it since 4.0; `test_replicas.py` has one that was lost."""
    sink = Sink(cluster, settings, new_topic(1, min_insync_replicas="2"))
    driver = sink.driver()
    driver.commit(driver.start(), batch(0, sink.topic), [sink.write(0, ["a"])])
    assert sink.committed() == ["a"]


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_a_topic_that_would_forget_decisions_is_refused(
    sink: Sink, cluster: Cluster, policy: str
) -> None:
    decisions = f"decisions-{policy.replace(',', '-')}-of-{sink.topic}"
    create_topics(cluster, [NewTopic(decisions, 1, configs={"cleanup.policy": policy})])
    with pytest.raises(SinkError, match=f"cleanup.policy={policy}: .*set it to compact"):
        sink.driver(decisions_topic=decisions).start()


@pytest.mark.parametrize("is_committed", [True, False])
def test_the_outcome_of_records_at_unknown_offsets_is_found_by_time(
    sink: Sink, is_committed: bool
) -> None:
    """Brokers had all batches already (DUPLICATE_SEQUENCE_NUMBER), and forgot where."""
    driver = sink.driver()
    driver.commit(driver.start(), batch(4, sink.topic), [sink.write(0, ["earlier"])])
    started = driver.start()
    known = sink.write(0, ["a"])  # with the id of the earlier one, and its producer's
    unknown = tuple(Written(*each[:2], -1, -1, each.records) for each in known.written)
    written = known._replace(written=unknown)
    decide_without_committing(sink, started.driver, batch(5, sink.topic), [written])
    if is_committed:
        end_transaction(sink.cluster, known.transactional_id, identity(known), commit=True)
    init_producer_id(sink.cluster, known.transactional_id)
    if is_committed:
        sink.driver().start()
        assert sink.committed() == ["a", "earlier"]
    else:
        with pytest.raises(TornBatch, match="1 records, at unknown offsets"):
            sink.driver().start()


@pytest.mark.parametrize("is_log_empty", [True, False])
def test_an_abort_is_found_in_a_log_that_begins_late_and_has_only_older_times(
    cluster: Cluster, settings: ClientSettings, new_topic: Callable[..., str], is_log_empty: bool
) -> None:
    """The driver's clock is days ahead. Records are lost to no reader only if none are left."""
    sink = Sink(cluster, settings, new_topic(1))
    driver = sink.driver()
    driver.commit(driver.start(), batch(4, sink.topic), [sink.write(0, ["earlier"])])
    driver.start()
    known = sink.write(0, ["a"])
    init_producer_id(cluster, known.transactional_id)  # as its timeout would
    place = TopicPartition(sink.topic, 0)
    end = latest_offsets(cluster, [place], READ_UNCOMMITTED)[place]
    delete_records(cluster, {place: end if is_log_empty else 1})
    written = known._replace(written=(Written(*place, -1, -1, 1),))
    in_days_ms = time.time_ns() // 1_000_000 + 3 * DAY_MS
    assert outcome_of(cluster, written, in_days_ms) == TransactionOutcome(is_log_empty)


def test_a_deleted_topic_in_a_torn_batch_is_reported_and_can_be_accepted(
    sink: Sink, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ottla.spark.sink.outcomes.NEW_TOPIC_MS", 1)
    driver = sink.driver()
    started = driver.start()
    written = sink.write(0, ["a"])
    decide_without_committing(sink, started.driver, batch(5, sink.topic), [written])
    init_producer_id(cluster, written.transactional_id)  # as its timeout would
    delete_topics(cluster, [sink.topic])
    wait_until(lambda: not cluster.describe_topics([sink.topic]), "the topic is gone")
    reported = f"These topics were deleted.*: {sink.topic}.*acceptTornBatch=5 to continue"
    with pytest.raises(TornBatch, match=reported):
        sink.driver().start()
    sink.driver(accept_torn_batch=5).start()
    sink.driver().start()


@pytest.mark.parametrize("are_offsets_known", [True, False])
def test_a_topic_that_was_created_again_does_not_pass_for_the_old_one(
    sink: Sink, cluster: Cluster, are_offsets_known: bool
) -> None:
    started = sink.driver().start()
    written = sink.write(0, ["a"])
    if not are_offsets_known:
        unknown = tuple(Written(*each[:2], -1, -1, each.records) for each in written.written)
        written = written._replace(written=unknown)
    decide_without_committing(sink, started.driver, batch(5, sink.topic), [written])
    init_producer_id(cluster, written.transactional_id)  # as its timeout would
    delete_topics(cluster, [sink.topic])
    wait_until(lambda: not cluster.describe_topics([sink.topic]), "the topic is gone")
    create_topics(cluster, [NewTopic(sink.topic, 3)])
    reported = f"were deleted, or deleted and created again.*: {sink.topic}. .*acceptTornBatch=5"
    with pytest.raises(TornBatch, match=reported):
        sink.driver().start()


def test_nor_does_one_that_was_created_again_with_fewer_partitions(
    sink: Sink, cluster: Cluster
) -> None:
    sink.driver().start()
    known = sink.write(0, ["a"])
    init_producer_id(cluster, known.transactional_id)
    beyond = Written(sink.topic, 3, 0, 0, 1)  # it has three
    written = known._replace(written=(beyond, *known.written))
    assert outcome_of(cluster, written, 0) == TransactionOutcome(False, frozenset({sink.topic}))


def test_another_sinks_open_decision_does_not_hide_later_ones(
    sink: Sink, settings: ClientSettings, new_topic: Callable[..., str]
) -> None:
    """Its driver died while it decided: the last stable offset of the decisions stands still."""
    from ottla.client.producing.producer import BatchProducer
    from ottla.spark.sink.decision_log import _batch

    other = Sink(sink.cluster, settings, new_topic())
    started = other.driver().start()
    place = TopicPartition(other.setup.options.decisions_topic, 0)
    with BatchProducer(sink.cluster, started.driver, driver_id(other.name)) as producer:
        producer.send(place, _batch({b"decision/" + other.name.encode(): b"half"}, True), 1)
        producer.flush()
    driver = sink.driver()
    driver.commit(driver.start(), batch(0, sink.topic), [sink.write(0, ["a"])])
    state = sink.driver().start().state
    assert state.decision is not None
    assert state.decision.batch == 0
    other.driver().start()


@pytest.mark.parametrize("is_commit", [False, True])
def test_a_decision_that_ends_while_decisions_are_read_counts_as_it_ended(
    sink: Sink, monkeypatch: pytest.MonkeyPatch, is_commit: bool
) -> None:
    from ottla.client.producing.producer import BatchProducer
    from ottla.spark.sink import decision_log
    from ottla.spark.sink.decisions import CommitDecision, encode_decision

    driver = sink.driver().start().driver
    log = DecisionLog(sink.cluster, sink.setup.options.decisions_topic)
    place, own_id = TopicPartition(sink.setup.options.decisions_topic, 0), driver_id(sink.name)
    value = encode_decision(CommitDecision(sink.name, sink.topic, 3, ()))
    entries: dict[bytes, bytes | None] = {key_of(DECISION, sink.name): value}
    with BatchProducer(sink.cluster, driver, own_id) as producer:
        producer.send(place, decision_log._batch(entries, True), 1)
        producer.flush()
    calls = 0

    def ends_in_between(*given: Any) -> dict[TopicPartition, int]:
        nonlocal calls
        calls += 1
        if calls == 2:
            end_transaction(sink.cluster, own_id, driver, commit=is_commit)
        return latest_offsets(*given)

    monkeypatch.setattr(decision_log, "latest_offsets", ends_in_between)
    found = log.read().state_of(sink.name)
    assert calls == 2
    assert is_commit or found.decision is None
    assert (log.read().state_of(sink.name).decision is not None) == is_commit


def test_a_query_with_a_changed_sink_name_gets_the_old_one_in_the_error(
    sink: Sink, settings: ClientSettings
) -> None:
    driver = sink.driver()
    driver.commit(driver.start(), batch(0, sink.topic), [sink.write(0, ["a"])])
    renamed = Sink(sink.cluster, settings, sink.topic)
    renamed.name = f"other-{sink.name}"
    driver = renamed.driver()
    started = driver.start()
    with pytest.raises(SinkError, match=f"Set the option sinkName={sink.name}"):
        driver.commit(started, batch(1, sink.topic), [renamed.write(0, ["b"])])
