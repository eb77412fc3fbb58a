"""What the next micro-batch is, given the topics of now."""

from ottla.base.ids import TopicPartition
from ottla.base.uuids import random_uuid, uuid_to_text
from ottla.client.fetching.read_position import KnownEnd
from ottla.spark.options.source_options import parse_options
from ottla.spark.planning.stream_changes import (
    batch_start,
    compare,
    known_ends,
    losses,
    moved_back,
    ranges_of,
    truncated_text,
)
from ottla.spark.planning.stream_offsets import StreamOffsets
from ottla.spark.source.group_progress import NAME_CHARACTERS_MAX, group_name, moved_forward

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def test_partitions_come_stay_and_go() -> None:
    change = compare(StreamOffsets({A0: 5, B0: 3}), [A0, A1], {})
    assert (change.kept, change.new, change.recreated, change.missing) == ((A0,), (A1,), (), (B0,))
    assert "b-0: deleted" in losses(change, lambda place: place == B0, "subscribe=a,b")[0]


def test_partitions_that_the_options_do_not_name_were_not_deleted() -> None:
    change = compare(StreamOffsets({A0: 5, B0: 3}), [A0], {})
    (reported,) = losses(change, lambda place: place.topic == "a", "subscribe=a")
    assert "offsets of b-0, which this query does not read (subscribe=a)" in reported
    assert "checkpointLocation" in reported
    assert "deleted" not in reported


def test_another_id_is_another_topic() -> None:
    reached = StreamOffsets({A0: 5}, {"a": "old"})
    assert compare(reached, [A0], {"a": "new"}).recreated == (A0,)
    assert compare(reached, [A0], {"a": "old"}).kept == (A0,)
    assert compare(reached, [A0], {}).kept == (A0,), "a cluster without ids says nothing"
    assert compare(StreamOffsets({A0: 5}), [A0], {"a": "new"}).kept == (A0,)


def test_the_first_batch_begins_where_it_was_noted_and_no_other_does() -> None:
    noted = StreamOffsets({A0: 9}, began_at={A0: 4})
    assert batch_start(StreamOffsets({A0: 7}), noted).offsets == {A0: 4}
    assert batch_start(noted, StreamOffsets({A0: 12})).offsets == {A0: 9}
    assert batch_start(noted, noted).offsets == {A0: 9}


def test_new_partitions_and_topics_made_again_begin_at_their_beginning() -> None:
    start = StreamOffsets({A0: 5, B0: 5}, {"a": "1", "b": "2"})
    end = StreamOffsets({A0: 9, A1: 3, B0: 2}, {"a": "1", "b": "3"})
    begin = batch_start(start, end)
    assert begin.offsets == {A0: 5, A1: None, B0: None}
    assert begin.new == (A1,)


def test_a_start_behind_its_end_reads_nothing() -> None:
    topic_id = random_uuid()
    end = StreamOffsets({A0: 9, A1: 3}, {"a": uuid_to_text(topic_id)})
    (only,) = ranges_of({A0: 5, A1: 8}, end)
    assert (only.partition, only.start, only.end, only.topic_id) == (A0, 5, 9, topic_id)


def test_an_id_that_was_edited_is_as_if_unknown() -> None:
    (only,) = ranges_of({A0: 0}, StreamOffsets({A0: 1}, {"a": "not an id"}))
    assert only.topic_id == b""


def test_ends_before_what_was_read_are_noticed() -> None:
    assert moved_back({A0: 5, A1: 5}, {A0: 4, A1: 5, B0: 0}) == [A0]


def test_a_batch_after_a_truncation_begins_where_the_log_differs() -> None:
    reached = StreamOffsets({A0: 9, A1: 9}, leader_epochs={A0: 3, A1: 3})
    end = StreamOffsets({A0: 12, A1: 8}, leader_epochs={A0: 5, A1: 5}, resumed_at={A0: 7, A1: 6})
    begin = batch_start(reached, end)
    assert begin.offsets == {A0: 7, A1: 6}
    ranges = ranges_of({A0: 7, A1: 6}, end)
    assert [(each.start, each.end, each.end_epoch) for each in ranges] == [(7, 12, 5), (6, 8, 5)]
    assert batch_start(end, StreamOffsets({A0: 13, A1: 9})).offsets == {A0: 12, A1: 8}


def test_only_what_continues_is_known_and_a_truncation_is_reported_with_offsets() -> None:
    reached = StreamOffsets({A0: 9, A1: 9, B0: 9}, leader_epochs={A0: 3, B0: 4})
    known = known_ends(reached, [A0, A1])
    assert known == {A0: KnownEnd(9, 3)}
    assert "a-0: the records from offset 7 up to 9, of leader epoch 3" in truncated_text(
        known, {A0: 7}
    )


def test_progress_only_moves_forward() -> None:
    assert moved_forward({A0: 5, A1: 5, B0: 5}, {A0: 5, A1: 9}) == {B0: 5}


def test_the_group_has_a_name_that_says_what_is_read_and_by_which_query() -> None:
    subscribed = parse_options({"subscribe": "b,a"})
    assert group_name("mine", subscribed, "") == "mine"
    assert group_name(None, subscribed, "5f0c") == "spark-ottla-a,b-5f0c"
    assert group_name(None, subscribed, "") == "", "two queries would share it"
    prefixed = parse_options({"subscribePattern": "x.*", "groupIdPrefix": "p"})
    assert group_name(None, prefixed, "5f0c") == "p-x.*-5f0c"
    many = parse_options({"subscribe": ",".join(f"topic-{n}" for n in range(100))})
    assert len(group_name(None, many, "5f0c")) == NAME_CHARACTERS_MAX + 5


class CountedPartition(TopicPartition):
    """Counts how often it is looked up."""

    lookups = 0

    def __hash__(self) -> int:
        CountedPartition.lookups += 1
        return super().__hash__()


def test_the_work_grows_with_the_number_of_partitions_and_not_with_its_square() -> None:
    places = [CountedPartition("a", number) for number in range(300)]
    reached = StreamOffsets(dict.fromkeys(places, 5), {"a": "old"})
    CountedPartition.lookups = 0
    assert len(compare(reached, places, {"a": "new"}).recreated) == 300
    assert CountedPartition.lookups < 10 * len(places)
