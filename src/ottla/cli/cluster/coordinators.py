"""Requests about a group go to its coordinator. librdkafka waits for it without reporting that.

Promises  if the coordinator is missing or does not respond, the error says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ottla.cli.cluster.connection import ClusterConnection, NoResponse, confluent_kafka
from ottla.cli.cluster.leaders import SEE_STATUS
from ottla.cli.cluster.raw_client import is_usable, raw_client
from ottla.cli.errors import CommandFailed
from ottla.client.cluster.routed_requests import GROUP, find_coordinator
from ottla.client.errors import ClientError, KafkaError

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


def wait_for_coordinator(connection: ClusterConnection, group: str, future: Future[T]) -> T:
    """The response of the group's coordinator. CommandFailed if there is none."""
    library = confluent_kafka()
    try:
        return connection.wait(future)
    except NoResponse as error:
        raise explained(connection, group, error) from error
    except library.KafkaException as error:
        if error.args[0].code() not in (
            library.KafkaError.COORDINATOR_NOT_AVAILABLE,
            library.KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
            library.KafkaError.NOT_COORDINATOR,
        ):
            raise
        raise CommandFailed(
            f"the coordinator of group {group} is not ready: {error.args[0].str()}",
            f"try again; {SEE_STATUS}",
        ) from error


def explained(connection: ClusterConnection, group: str, error: NoResponse) -> CommandFailed:
    """The same error, with what the cluster says of the coordinator."""
    if not is_usable(connection):
        return error
    try:
        with raw_client(connection) as cluster:
            broker_id, address = find_coordinator(cluster, GROUP, group)
    except KafkaError as found:
        return CommandFailed(f"group {group} has no coordinator: {found}", SEE_STATUS)
    except ClientError:
        return error
    return NoResponse(
        f"the coordinator of group {group}, broker {broker_id} on {address}, did not respond "
        f"within {connection.timeout_s:g} s",
        SEE_STATUS,
    )
