"""The errors of the client: each message says where it happened, and what to do.

ClientError            every error that this folder raises deliberately
  InvalidSetting         a setting that is unknown, not supported yet, or out of range
  Unreachable            no broker of a list could be connected to
  ConnectionLost         a connection ended before the response arrived
  RequestTimedOut        ... or the response did not arrive in time
  MalformedAnswer        the bytes that arrived are no valid response to the request
  UnsupportedByBroker    the broker does not serve an API, or none of the versions we may use
  GaveUp                 retried until the deadline; has the last error
  KafkaError             a broker refused a request, with one of the protocol's error codes
    UnknownTopic           the topic, or the partition, does not exist
    TopicRecreated         the name now belongs to another topic, in which old offsets are invalid
    OffsetOutOfRange       the requested records were deleted (retention), or do not exist yet
    LogTruncated           the leader does not have records that an earlier leader had
    ProducerFenced         another producer with the same transactional id has taken over
    InvalidTransactionState  the transaction was ended the other way, or never begun

Promises  all can be pickled, as errors of executors must be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ottla.base.uuids import uuid_to_text
from ottla.protocol.error_codes import ErrorCode


class ClientError(Exception):
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _rebuild, (self.__class__, self.args, self.__dict__)


def _rebuild(kind: type[ClientError], args: tuple[Any, ...], state: dict[str, Any]) -> ClientError:
    """Without `__init__`, which takes parts where `args` holds the finished message."""
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class InvalidSetting(ClientError):
    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Unreachable(ClientError):
    def __init__(self, problems: dict[str, str]) -> None:
        reasons = "; ".join(f"{address}: {problem}" for address, problem in problems.items())
        super().__init__(
            f"no broker can be reached ({reasons}). "
            "Check bootstrap.servers, and that the cluster runs"
        )
        self.addresses = list(problems)


class ConnectionLost(ClientError):
    def __init__(self, address: object, api: str, reason: object) -> None:
        super().__init__(f"{api} at {address}: connection lost: {reason}")
        self.address = str(address)


class RequestTimedOut(ConnectionLost):
    def __init__(self, address: object, api: str, timeout_ms: int) -> None:
        ClientError.__init__(
            self,
            f"{api} at {address}: no answer within {timeout_ms} ms (request.timeout.ms): "
            "the broker is overloaded, stopped or unreachable",
        )
        self.address = str(address)


class MalformedAnswer(ConnectionLost):
    def __init__(self, address: object, api: str, reason: object) -> None:
        ClientError.__init__(self, f"{api} at {address}: not a valid answer: {reason}")
        self.address = str(address)


class UnsupportedByBroker(ClientError):
    def __init__(self, address: object, api: str, wanted: range, served: range | None) -> None:
        has = f"serves versions {_shown(served)}" if served else "does not serve it"
        super().__init__(f"{api} at {address}: the broker {has}, we need one of {_shown(wanted)}")
        self.api = api


def _shown(versions: range) -> str:
    return f"{versions.start}-{versions.stop - 1}"


class GaveUp(ClientError):
    def __init__(self, what: str, elapsed_s: float, last: BaseException | str) -> None:
        super().__init__(f"{what}: gave up after {elapsed_s:.1f} s; last: {last}")
        self.last = str(last)


class KafkaError(ClientError):
    """`where` names the request, and topic-partition and offset where there are any."""

    def __init__(self, code: ErrorCode, where: str, message: str | None = None) -> None:
        detail = f": {message}" if message else ""
        advice = f" ({_ADVICE[code]})" if code in _ADVICE else ""
        super().__init__(f"{where}: {code.name} ({int(code)}){detail}{advice}")
        self.code = code


class UnknownTopic(KafkaError):
    def __init__(self, topic: str, partition: int | None = None) -> None:
        missing = "topic does not exist" if partition is None else "partition does not exist"
        name = topic if partition is None else f"{topic}-{partition}"
        super().__init__(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name, missing)
        self.topic, self.partition = topic, partition


class TopicRecreated(KafkaError):
    def __init__(self, topic: str, old_id: bytes, new_id: bytes) -> None:
        super().__init__(
            ErrorCode.INCONSISTENT_TOPIC_ID,
            topic,
            f"the topic was deleted and created again: its id was {uuid_to_text(old_id)} and is "
            f"now {uuid_to_text(new_id)}; offsets of the old topic have no meaning in the new one",
        )
        self.topic, self.old_id, self.new_id = topic, old_id, new_id


class OffsetOutOfRange(KafkaError):
    def __init__(self, topic: str, partition: int, offset: int, log_start: int, end: int) -> None:
        reason = "deleted (retention)" if offset < log_start else "beyond the end of the log"
        super().__init__(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"{topic}-{partition} at offset {offset}",
            f"{reason}: the log has offsets {log_start} up to {end} (not included)",
        )
        self.topic, self.partition, self.offset = topic, partition, offset
        self.log_start, self.end = log_start, end


class LogTruncated(KafkaError):
    """The records before `offset` were known from a leader of `epoch`. Those from `replaced_from`
    on were lost in an unclean election: other records may have their offsets now."""

    def __init__(
        self, topic: str, partition: int, offset: int, epoch: int, replaced_from: int
    ) -> None:
        super().__init__(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"{topic}-{partition} at offset {offset}",
            f"the log was truncated: the records from {replaced_from} up to {offset} (not "
            f"included), of leader epoch {epoch} or before, were lost when a replica that did not "
            "have them became the leader (unclean.leader.election.enable)",
        )
        self.topic, self.partition, self.offset = topic, partition, offset
        self.epoch, self.replaced_from = epoch, replaced_from


class ProducerFenced(KafkaError):
    """INVALID_PRODUCER_EPOCH or PRODUCER_FENCED."""


class InvalidTransactionState(KafkaError):
    """INVALID_TXN_STATE and similar: the transaction is not in the state the caller assumes."""


_ADVICE = {
    ErrorCode.UNKNOWN_MEMBER_ID: "the group has members, and only they may commit: use another",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "the user may not do this with the topic",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "the user may not do this with the group",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "the user may not use the transactional id",
    ErrorCode.MESSAGE_TOO_LARGE: "make batches smaller, or raise the topic's max.message.bytes",
    ErrorCode.NOT_ENOUGH_REPLICAS: "fewer replicas are in sync than min.insync.replicas demands",
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "above the broker's transaction.max.timeout.ms",
    ErrorCode.CORRUPT_MESSAGE: "damaged on its way or on the broker's disk",
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: "an earlier batch of this producer is missing",
}
_TYPES: dict[ErrorCode, type[KafkaError]] = {
    ErrorCode.INVALID_PRODUCER_EPOCH: ProducerFenced,
    ErrorCode.PRODUCER_FENCED: ProducerFenced,
    ErrorCode.INVALID_TXN_STATE: InvalidTransactionState,
    ErrorCode.INVALID_PRODUCER_ID_MAPPING: InvalidTransactionState,
    ErrorCode.TRANSACTION_ABORTABLE: InvalidTransactionState,
}


def kafka_error(code: ErrorCode, where: str, message: str | None = None) -> KafkaError:
    """The error of the type that fits its code."""
    return _TYPES.get(code, KafkaError)(code, where, message)


def code_of(number: int) -> ErrorCode:
    """UNKNOWN_SERVER_ERROR for a code that is newer than this table."""
    try:
        return ErrorCode(number)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR
