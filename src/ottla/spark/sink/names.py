"""The name of a sink, under which a restarted query finds its earlier decisions.

Owns      the default for the option sinkName, and the transactional ids made of the name.
Promises  a query has the same name after every restart, and no two queries share one, as far as
          that can be determined.

A stream's name is its query id, read from a checkpoint in a local file system (Spark writes it
there before the first batch), and a hash of the checkpoint's location elsewhere. Both stay with the
checkpoint, which identifies the query. A batch write has a new name each time: it is not repeated.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from urllib.parse import urlsplit

from ottla.config.options import InvalidOption
from ottla.spark.options.sink_options import SinkOptions
from ottla.spark.sink.checkpoint import local_path, query_of_checkpoint

BATCH_PREFIX = "batch-"


def stream_sink_name(options: SinkOptions) -> str:
    if options.sink_name is not None:
        return options.sink_name
    if options.checkpoint_location is None:
        raise InvalidOption(
            "Option sinkName is missing. A stream that writes exactly once needs a name that stays "
            "the same when it is restarted: give the option checkpointLocation to writeStream "
            "itself (not to the session), or sinkName."
        )
    query = query_of_checkpoint(options.checkpoint_location)
    if query is not None:
        return f"query-{query}"
    digest = hashlib.sha256(normalised(options.checkpoint_location).encode()).hexdigest()
    return f"checkpoint-{digest[:32]}"


def batch_sink_name(options: SinkOptions, new_name: Callable[[], str] | None = None) -> str:
    if options.sink_name is not None:
        return options.sink_name
    if options.txn_app_id is not None:
        return txn_name(options)
    return BATCH_PREFIX + (new_name or _random_name)()


def txn_name(options: SinkOptions) -> str:
    """Versions are counted for each topic separately, as Delta counts them for each table: jobs
    write one batch to several topics with the same txnAppId. Neither name can contain a colon."""
    name = f"txn-{options.txn_app_id}"
    return name if options.topic is None else f"{name}:{options.topic}"


def _random_name() -> str:
    return uuid.uuid4().hex


def normalised(location: str) -> str:
    """The same text for `/a/b`, `/a/b/` and `file:///a//b`."""
    path = local_path(location)
    if path is not None:
        return str(path)
    parts = urlsplit(location)
    return f"{parts.scheme.lower()}://{parts.netloc}{parts.path.rstrip('/')}"


def driver_id(sink: str) -> str:
    return f"{sink}.driver"


def task_prefix(sink: str) -> str:
    return f"{sink}/"


def task_id(sink: str, partition: int, round_number: int, attempt: int) -> str:
    """Attempts of one task never share an id; `round_number` separates attempts of a stage."""
    return f"{task_prefix(sink)}{partition}/{round_number}.{attempt}"
