"""Errors of the client during a write, with advice for the author of the query."""

from __future__ import annotations

from ottla.client.errors import ClientError, GaveUp, KafkaError, ProducerFenced, Unreachable
from ottla.protocol.error_codes import ErrorCode
from ottla.spark.sink.errors import SinkError

ADVICE = {
    ErrorCode.MESSAGE_TOO_LARGE: "A batch is above the topic's max.message.bytes: raise that, "
    "or lower the option kafka.batch.size; a single record above it cannot be written",
    ErrorCode.RECORD_LIST_TOO_LARGE: "Lower the option kafka.batch.size",
    ErrorCode.NOT_ENOUGH_REPLICAS: "Fewer replicas are in sync than the topic's "
    "min.insync.replicas: bring brokers back, or lower it",
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: "Fewer replicas are in sync than the topic's "
    "min.insync.replicas: bring brokers back, or lower it",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "The topic was deleted meanwhile, or never existed: "
    "create it, or change the option or the column topic",
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "The broker allows less: lower the option "
    "kafka.transaction.timeout.ms, or raise its transaction.max.timeout.ms",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "A topic's name has 1 to 249 letters, digits, dots, "
    "underscores or hyphens: change the column topic",
    ErrorCode.INVALID_RECORD: "A compacted topic takes no record without a key: give rows a key",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topics such as __consumer_offsets are internal, and "
    "only brokers write them: change the option or the column topic",
    ErrorCode.UNSUPPORTED_COMPRESSION_TYPE: "Choose another option kafka.compression.type",
}
FENCED = (
    "Another attempt or another driver has taken over this transaction, and the rows of this "
    "attempt are discarded. If it happens repeatedly, two queries share one sink name: set the "
    "option sinkName"
)


def explained(error: ClientError) -> SinkError:
    """The same error, and what to do about it."""
    advice = _advice(error.__cause__ if isinstance(error, GaveUp) else error)
    return SinkError(f"{error}. {advice}." if advice else str(error))


def _advice(trouble: BaseException | None) -> str | None:
    if isinstance(trouble, ProducerFenced):
        return FENCED
    if isinstance(trouble, KafkaError):
        return ADVICE.get(trouble.code)
    if isinstance(trouble, Unreachable):
        return "See the option kafka.bootstrap.servers"
    return None
