"""A session of a script with one broker: its connections, and a list of what was answered.

Owns      the connections of one run of a script, the names of its topics, the answers so far.
Promises  a request that its version cannot express is left out, on every broker alike.
Leaves    what is asked to the scripts, what answers mean to `comparing.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.compatibility.differential.plain import Names, Plain, plain_outcome
from tests.compatibility.differential.scripting import Run
from tests.compatibility.differential.wire import (
    PROBE_ID,
    Connection,
    Nothing,
    Outcome,
    key_of,
)
from tests.support.waiting import wait_until

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import UnencodableValue
from ottla.protocol.message import Message, UnsupportedVersion
from ottla.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

SHOWN_BYTES_MAX = 6
WAIT_S = 60.0
# What preparing for a comparison waits for; a client would ask again, too.
NOT_YET = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    }
)
Answers = dict[str, Plain]  # by label, in the order in which they were asked


class Topic(NamedTuple):
    name: str
    id: bytes


class Pending(NamedTuple):
    """A request whose answer is still to come."""

    label: str
    connection: Connection
    key: ApiKey
    version: int
    correlation_id: int


class Session:
    def __init__(self, address: str, run: Run) -> None:
        self.address = address
        self._run = run
        self._connections: dict[str, Connection] = {}
        self._settled = 0
        self.names = Names(run.prefix)
        self.version = run.version
        self.answers: Answers = {}

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()

    # What is compared

    def ask(
        self,
        label: str,
        request: Message,
        *,
        version: int | None = None,
        on: str = "",
        may_be_silent: bool = False,
        shown: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Send it, keep the answer under `label` and return it; None if there is none.

        `shown` changes a copy of the answer before it is kept, to leave out what others did.
        """
        pending = self.send(label, request, version=version, on=on)
        if pending is None:
            return None
        if may_be_silent:
            pending.connection.send_probe()
        outcome = self.receive(pending, shown=shown)
        if may_be_silent and outcome is not None:
            pending.connection.receive_frame()  # the answer to the probe
        return outcome

    def send(
        self, label: str, request: Message, *, version: int | None = None, on: str = ""
    ) -> Pending | None:
        """Send it now, `receive` its answer later. None if the version cannot say it."""
        assert label not in self.answers, f"two requests are called {label!r}"
        version = self.version if version is None else version
        connection = self.connection(on)
        try:
            sent = connection.send(request, version)
        except (UnsupportedVersion, UnencodableValue):
            return None
        return Pending(label, connection, key_of(request), version, sent)

    def receive(self, pending: Pending | None, shown: Callable[[Any], Any] | None = None) -> Any:
        if pending is None:
            return None
        _, connection, key, version, sent = pending
        outcome = connection.receive(key, version, sent)
        return self.keep(pending.label, outcome, shown)

    def keep(
        self, label: str, outcome: Outcome, shown: Callable[[Any], Any] | None = None
    ) -> Message | None:
        is_answer = isinstance(outcome, Message)
        kept = shown(outcome) if is_answer and shown is not None else outcome
        assert label not in self.answers, f"two requests are called {label!r}"
        self.names.begin(label)
        self.answers[label] = plain_outcome(kept, self.names)
        return outcome if isinstance(outcome, Message) else None

    def raw(self, label: str, data: bytes, *, is_whole: bool = True, is_shown: bool = True) -> None:
        """Send bytes as they are on a connection of their own; keep what came back.

        A frame that is not whole is followed by the end of the connection, any other by a request
        that shows whether there was an answer. What an answer says is left out unless `is_shown`.
        """
        assert label not in self.answers, f"two requests are called {label!r}"
        connection = Connection(self.address)
        connection.send_bytes(data)
        if is_whole:
            connection.send_probe()
        else:
            connection.end_sending()
        frame = connection.receive_frame()
        self.answers[label] = shown_frame(frame) if is_shown or frame is None else "answered"
        connection.close()

    # What it stands on

    def connection(self, name: str = "") -> Connection:
        """The connection by this name; a new one if there is none or it was closed."""
        known = self._connections.get(name)
        if known is None or not known.is_open:
            known = self._connections[name] = Connection(self.address)
        return known

    def quietly(self, request: Message, version: int) -> Any:
        """Ask what need not be compared; the answer."""
        connection = self.connection("quiet")
        sent = connection.send(request, version)
        outcome = connection.receive(key_of(request), version, sent)
        assert isinstance(outcome, Message), f"{request}: {outcome}"
        return outcome

    def until(
        self, request: Message, version: int, is_done: Callable[[Any], bool], what: str
    ) -> Any:
        """Ask quietly until it is so: Kafka applies many changes a little later. The answer."""
        answers: list[Any] = []

        def is_so() -> bool:
            answers[:] = [self.quietly(request, version)]
            return is_done(answers[0])

        wait_until(is_so, what, WAIT_S)
        return answers[0]

    def once_ready(
        self,
        request: Message,
        version: int,
        code_of: Callable[[Any], int] = lambda answer: answer.error_code,
    ) -> Any:
        """Ask quietly for what must succeed, again while the broker says that it cannot yet."""
        what = f"an answer to {type(request).__name__}"
        answer = self.until(request, version, lambda answer: code_of(answer) not in NOT_YET, what)
        code = code_of(answer)
        assert code == 0, f"{request}: {ErrorCode(code).name}"
        return answer

    def name(self, name: str) -> str:
        """A name for a topic, group or transaction that no other run uses."""
        return self._run.prefix + name

    def topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> Topic:
        """A new topic whose partitions are being served."""
        chosen = [CreatableTopicConfig(key, value) for key, value in (configs or {}).items()]
        wanted = CreatableTopic(self.name(name), partitions, 1, (), chosen)
        (made,) = self.quietly(CreateTopicsRequest([wanted], 30_000), 7).topics
        assert made.error_code == 0, made
        self.await_leaders(made.name, partitions)
        self.names.define("id", made.topic_id, name)
        return Topic(made.name, made.topic_id)

    def await_leaders(self, name: str, partitions: int) -> None:
        latest = [ListOffsetsPartition(index, timestamp=-1) for index in range(partitions)]
        request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(name, latest)])
        self.until(
            request,
            5,
            lambda answer: all(each.error_code == 0 for each in answer.topics[0].partitions),
            f"leaders of {name}",
        )

    def settle(self) -> None:
        """Until the broker has applied all changes so far: they are applied in order."""
        self._settled += 1
        if self._settled == 1:
            self.topic("settling")
        resource, key = (2, self.name("settling")), "retention.ms"
        change = AlterableConfig(key, 0, str(self._settled))
        self.quietly(
            IncrementalAlterConfigsRequest([AlterConfigsResource(*resource, [change])], False), 1
        )
        self.until(
            DescribeConfigsRequest([DescribeConfigsResource(*resource, [key])]),
            4,
            lambda answer: answer.results[0].configs[0].value == str(self._settled),
            "all changes",
        )

    def append(self, topic: Topic, batch: bytes | bytearray, partition: int = 0) -> int:
        """Store a batch; its base offset."""
        data = TopicProduceData(topic.name, topic.id, [PartitionProduceData(partition, batch)])
        answer = self.once_ready(
            ProduceRequest(None, -1, 30_000, [data]),
            9,
            lambda answer: answer.responses[0].partition_responses[0].error_code,
        )
        offset: int = answer.responses[0].partition_responses[0].base_offset
        return offset


def shown_frame(frame: bytes | None) -> str:
    if frame is None:
        return Nothing.CLOSED.value
    if int.from_bytes(frame[:4], "big", signed=True) == PROBE_ID:
        return Nothing.SILENT.value
    return frame.hex() if len(frame) <= SHOWN_BYTES_MAX else f"{frame[:SHOWN_BYTES_MAX].hex()}..."
