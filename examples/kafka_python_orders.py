"""Write and read with kafka-python.

ottla up                                # in one window
python examples/kafka_python_orders.py  # in another; takes HOST:PORT if it is not localhost:9092
"""

import json
import sys
from itertools import islice

from kafka import KafkaConsumer, KafkaProducer

SERVERS = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
TOPIC = "orders"
ORDERS = [{"id": 1, "item": "tea"}, {"id": 2, "item": "coffee"}, {"id": 3, "item": "tea"}]


def write() -> None:
    producer = KafkaProducer(bootstrap_servers=SERVERS)
    for order in ORDERS:
        producer.send(TOPIC, json.dumps(order).encode(), key=order["item"].encode())
    producer.flush()
    producer.close()


def read() -> None:
    consumer = KafkaConsumer(
        TOPIC,
        bootstrap_servers=SERVERS,
        group_id="kitchen",
        auto_offset_reset="earliest",
        consumer_timeout_ms=30_000,
    )
    for message in islice(consumer, len(ORDERS)):
        order = json.loads(message.value)
        print(f"order {order['id']}: {order['item']} (offset {message.offset})")
    consumer.close()


write()
read()
