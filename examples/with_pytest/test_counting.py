"""Tests with a real broker: `pytest examples/with_pytest`. Nothing needs to be started before."""

import confluent_kafka
from counting import count_items


def test_items_are_counted_over_all_partitions(kafka):
    orders = kafka.topic("orders", partitions=3)
    counts = kafka.topic("counts")
    kafka.produce(orders, [("a", {"item": "tea"}), ("b", {"item": "tea"}), ("c", {"item": "milk"})])

    count_items(kafka.bootstrap_servers, orders, counts, kafka.name("counting"), how_many=3)

    expected = [("tea", {"item": "tea", "count": 2}), ("milk", {"item": "milk", "count": 1})]
    kafka.assert_messages(counts, expected, any_order=True)


def test_a_second_run_goes_on_where_the_first_stopped(kafka):
    orders = kafka.topic("orders")
    counts = kafka.topic("counts")
    group = kafka.name("counting")
    for item in ("tea", "milk"):
        kafka.produce(orders, [{"item": item}])
        count_items(kafka.bootstrap_servers, orders, counts, group, how_many=1)

    kafka.wait_lag_zero(group, orders)
    kafka.assert_messages(counts, [{"item": "tea", "count": 1}, {"item": "milk", "count": 1}])


def test_any_client_reaches_the_broker(kafka_broker):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": kafka_broker.bootstrap_servers})
    assert admin.list_topics(timeout=30).cluster_id
