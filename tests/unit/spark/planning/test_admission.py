"""How far the next micro-batch reaches; the clock is moved by hand."""

from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

from ottla.base.ids import TopicPartition
from ottla.spark.options.source_options import parse_options
from ottla.spark.planning.admission import Admission

A, B = TopicPartition("t", 0), TopicPartition("t", 1)
ALL = ReadAllAvailable()


def admission(**options: str) -> Admission:
    return Admission(parse_options(options))


def test_the_limit_is_what_the_options_say() -> None:
    assert admission().default_limit == ALL
    assert admission(maxOffsetsPerTrigger="5").default_limit == ReadMaxRows(5)
    assert admission(minOffsetsPerTrigger="5").default_limit == ReadMinRows(5)
    both = admission(minOffsetsPerTrigger="2", maxOffsetsPerTrigger="5")
    assert both.default_limit == ReadMaxRows(5)


def test_a_batch_is_held_back_until_there_is_enough_or_the_delay_is_over() -> None:
    rules = admission(minOffsetsPerTrigger="10", maxTriggerDelay="1s")
    limit = rules.default_limit
    assert rules.decide_ends({A: 0}, {A: 0}, {A: 1}, limit, now_s=0) == {A: 1}
    rules.note_batch(now_s=0)
    assert rules.decide_ends({A: 1}, {A: 1}, {A: 5}, limit, now_s=0.9) == {A: 1}
    assert rules.decide_ends({A: 1}, {A: 1}, {A: 11}, limit, now_s=0.9) == {A: 11}
    assert rules.decide_ends({A: 1}, {A: 1}, {A: 5}, limit, now_s=1.0) == {A: 5}
    assert rules.decide_ends({A: 1}, {A: 1}, {A: 5}, ALL, now_s=0.9) == {A: 5}


def test_a_held_back_batch_is_still_limited() -> None:
    rules = admission(minOffsetsPerTrigger="2", maxOffsetsPerTrigger="5")
    rules.note_batch(now_s=0)
    limit = rules.default_limit
    assert rules.decide_ends({A: 0}, {A: 0}, {A: 1}, limit, now_s=1) == {A: 0}
    assert rules.decide_ends({A: 0}, {A: 0}, {A: 9}, limit, now_s=1) == {A: 5}


def test_nothing_goes_beyond_the_target() -> None:
    rules = admission()
    rules.stop_at({A: 5})
    assert rules.decide_ends({A: 3}, {A: 3}, {A: 9}, ALL, now_s=0) == {A: 5}
    assert rules.decide_ends({A: 7}, {A: 7}, {A: 9}, ALL, now_s=0) == {A: 7}, "never back"
    new = rules.decide_ends({A: 3}, {A: 3, B: 0}, {A: 9, B: 4}, ALL, now_s=0)
    assert new == {A: 5}, "a partition that is new waits for the next run"
    known = rules.decide_ends({A: 3, B: 2}, {A: 3, B: 2}, {A: 9, B: 4}, ALL, now_s=0)
    assert known == {A: 5, B: 2}, "one that the stream knows keeps its place"


def test_topics_made_again_have_another_target() -> None:
    rules = admission()
    rules.stop_at_instead({A: 9})
    assert rules.decide_ends({A: 0}, {A: 0}, {A: 20}, ALL, now_s=0) == {A: 20}, "no target, no end"
    rules.stop_at({A: 5})
    rules.stop_at_instead({A: 9})
    assert rules.decide_ends({A: 0}, {A: 0}, {A: 20}, ALL, now_s=0) == {A: 9}
