"""Write and read with confluent-kafka (librdkafka).

ottla up                                  # in one window
python examples/confluent_kafka_orders.py # in another; takes HOST:PORT if it is not localhost:9092
"""

import json
import sys

from confluent_kafka import Consumer, Producer

SERVERS = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
TOPIC = "orders"
ORDERS = [{"id": 1, "item": "tea"}, {"id": 2, "item": "coffee"}, {"id": 3, "item": "tea"}]


def write() -> None:
    producer = Producer({"bootstrap.servers": SERVERS, "enable.idempotence": True})
    for order in ORDERS:
        producer.produce(TOPIC, key=order["item"], value=json.dumps(order))
    producer.flush()


def read() -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": SERVERS,
            "group.id": "kitchen",
            "auto.offset.reset": "earliest",
        }
    )
    consumer.subscribe([TOPIC])
    try:
        for _ in ORDERS:
            message = consumer.poll(timeout=30)
            if message is None or message.error():
                raise SystemExit(f"no order came: {message and message.error()}")
            order = json.loads(message.value())
            print(f"order {order['id']}: {order['item']} (offset {message.offset()})")
    finally:
        consumer.close()  # commits what was read, and leaves the group


write()
read()
