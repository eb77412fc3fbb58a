"""How long a client waits for a large response beside a crowd that does not read its own.

    python -m tests.integration.faults.unread_responses [--clients 60] [--rounds 3]

Every client asks for the metadata of many topics that do not exist, a response of about two
megabytes: together more than the memory for responses, which is 64 MiB here. The crowd connects
from a few addresses, does not read, and comes back when it is closed. The good client has an
address of its own and reads. Prints the seconds until it has its response, without the crowd and
beside it.
"""

from __future__ import annotations

import argparse
import socket
import sys
import threading
import time

from tests.integration.faults.expensive_requests import read_answer

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.headers import encode_request
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.testing.broker import RunningBroker

TOPICS, NAME_LENGTH = 20_000, 90
SETTINGS = {"ottla.queued.response.bytes.max": "67108864"}
ADDRESSES = 4  # of the crowd
WARM_UP_S = 5.0
ANSWER_S = 300.0


def large_frame() -> bytes:
    topics = [MetadataRequestTopic(name=f"{at:0{NAME_LENGTH}}") for at in range(TOPICS)]
    request = MetadataRequest(topics, allow_auto_topic_creation=False)
    return b"".join(map(bytes, encode_request(ApiKey.METADATA, 9, 1, "client", request)))


def connect(port: int, address: str, timeout_s: float) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout_s, (address, 0))


def ask(port: int, frame: bytes) -> float:
    began_s = time.perf_counter()
    with connect(port, "127.0.0.1", ANSWER_S) as connection:
        connection.sendall(frame)
        if read_answer(connection) < TOPICS * NAME_LENGTH:
            raise RuntimeError("the good client has got no response")
    return time.perf_counter() - began_s


class Hostile:
    """Sends its request, does not read, and comes back when it is closed."""

    def __init__(self, port: int, address: str, frame: bytes) -> None:
        self._port, self._address, self._frame = port, address, frame
        self._connection: socket.socket | None = None
        self._sent = 0

    def step(self) -> None:
        try:
            if self._connection is None:
                self._connection, self._sent = connect(self._port, self._address, 1.0), 0
                self._connection.setblocking(False)
            if self._sent < len(self._frame):
                self._sent += self._connection.send(
                    self._frame[self._sent : self._sent + (1 << 18)]
                )
            elif not self._connection.recv(1, socket.MSG_PEEK):
                self.close()
        except BlockingIOError:
            pass
        except OSError:
            self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def be_hostile(crowd: list[Hostile], end: threading.Event) -> None:
    while not end.wait(0.05):
        for each in crowd:
            each.step()
    for each in crowd:
        each.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    frame, end = large_frame(), threading.Event()
    with RunningBroker(config=SETTINGS) as broker:
        port = int(broker.bootstrap_servers.rpartition(":")[2])
        print("alone", *(f"{ask(port, frame):.2f}" for _ in range(arguments.rounds)), flush=True)
        addresses = [f"127.0.1.{1 + at}" for at in range(ADDRESSES)]
        crowd = [Hostile(port, addresses[at % ADDRESSES], frame) for at in range(arguments.clients)]
        hostile = threading.Thread(target=be_hostile, args=(crowd, end))
        hostile.start()
        try:
            time.sleep(WARM_UP_S)
            times_s = [ask(port, frame) for _ in range(arguments.rounds)]
            print("beside the crowd", *(f"{each:.2f}" for each in times_s), flush=True)
        finally:
            end.set()
            hostile.join()
        return 0 if broker.is_running else 1


if __name__ == "__main__":
    sys.exit(main())
