"""Write and read with aiokafka (asyncio).

ottla up                            # in one window
python examples/aiokafka_orders.py  # in another; takes HOST:PORT if it is not localhost:9092
"""

import asyncio
import json
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

SERVERS = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
TOPIC = "orders"
ORDERS = [{"id": 1, "item": "tea"}, {"id": 2, "item": "coffee"}, {"id": 3, "item": "tea"}]


async def write() -> None:
    async with AIOKafkaProducer(bootstrap_servers=SERVERS, enable_idempotence=True) as producer:
        for order in ORDERS:
            await producer.send_and_wait(
                TOPIC, json.dumps(order).encode(), key=order["item"].encode()
            )


async def read() -> None:
    consumer = AIOKafkaConsumer(
        TOPIC, bootstrap_servers=SERVERS, group_id="kitchen", auto_offset_reset="earliest"
    )
    async with consumer:
        for _ in ORDERS:
            message = await asyncio.wait_for(consumer.getone(), timeout=30)
            order = json.loads(message.value)
            print(f"order {order['id']}: {order['item']} (offset {message.offset})")


async def main() -> None:
    await write()
    await read()


asyncio.run(main())
