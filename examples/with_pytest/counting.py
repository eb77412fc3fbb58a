"""The program under test: counts the items of orders, and writes the counts to another topic."""

import json
from collections import Counter

from confluent_kafka import Consumer, Producer


def count_items(servers: str, orders: str, counts: str, group: str, how_many: int) -> None:
    """Read so many orders as a member of the group, then write how often each item came."""
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": group, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([orders])
    messages = consumer.consume(how_many, timeout=30)
    found = Counter(json.loads(message.value())["item"] for message in messages)
    consumer.close()

    producer = Producer({"bootstrap.servers": servers})
    for item, count in found.items():
        producer.produce(counts, key=item, value=json.dumps({"item": item, "count": count}))
    producer.flush()
