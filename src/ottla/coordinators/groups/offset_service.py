"""Requests for committed offsets: OffsetCommit, TxnOffsetCommit, OffsetFetch, OffsetDelete.

Promises  a request has taken effect when its method returns; the result may have to be awaited
          until its records are replicated.
Leaves    the decisions to `offset_api.py`, the order of changes and the log to the runtime.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias, TypeVar

from ottla.base.ids import TopicId
from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.batches import COORDINATOR_ITSELF, Writer
from ottla.coordinators.groups import offset_api
from ottla.coordinators.groups.commit_drafts import CommitDraft, drafting_commit
from ottla.coordinators.groups.offset_commits import CommitRules
from ottla.coordinators.groups.shard import GroupShard, LoadedShard
from ottla.coordinators.groups.shard_context import Caller
from ottla.coordinators.runtime import BY_COORDINATOR, Runtime
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_commit_request import OffsetCommitRequest
from ottla.protocol.messages.offset_commit_response import OffsetCommitResponse
from ottla.protocol.messages.offset_delete_request import OffsetDeleteRequest
from ottla.protocol.messages.offset_delete_response import OffsetDeleteResponse
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup
from ottla.protocol.messages.offset_fetch_response import OffsetFetchResponseGroup
from ottla.protocol.messages.txn_offset_commit_request import TxnOffsetCommitRequest
from ottla.protocol.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from ottla.protocol.records.control import EndMarker
from ottla.storage.log.append import ProducedBy

A = TypeVar("A")
T = TypeVar("T")
Outcome: TypeAlias = T | Awaitable[T]


class OffsetService:
    def __init__(self, runtime: Runtime[GroupShard], scheduler: StepScheduler) -> None:
        self._runtime = runtime
        self._scheduler = scheduler

    def _named(self, group_id: str) -> LoadedShard:
        if not group_id:
            raise BrokerError(ErrorCode.INVALID_GROUP_ID)
        return self._runtime.shard(group_id)

    def commit(self, request: OffsetCommitRequest, caller: Caller) -> Outcome[OffsetCommitResponse]:
        shard = self._runtime.shard(request.group_id)
        shard.state.check_usable(request.group_id)
        return self._runtime.decide(
            shard, lambda state: offset_api.commit(state, request, caller.version)
        )

    def commit_many(
        self, request: OffsetCommitRequest, caller: Caller
    ) -> Steps[Awaitable[OffsetCommitResponse]]:
        """The same for many offsets: nothing has changed before the returned awaitable is done."""

        def rules() -> CommitRules:
            shard.state.check_usable(request.group_id)
            return offset_api.commit_rules(shard.state, request, caller.version)

        shard = self._runtime.shard(request.group_id)
        draft = self._draft(shard, rules())
        response = yield from drafting_commit(draft, request.topics)
        return self._write_draft(shard, draft, response, rules)

    def _draft(self, shard: LoadedShard, rules: CommitRules) -> CommitDraft:
        return CommitDraft(rules, shard.partition.log.config.max_message_bytes)

    async def _write_draft(
        self,
        shard: LoadedShard,
        draft: CommitDraft,
        response: A,
        rules: Callable[[], CommitRules],
        writer: Writer = COORDINATOR_ITSELF,
        by: ProducedBy = BY_COORDINATOR,
    ) -> A:
        """Validate against the group again, write the draft, and answer when it is replicated."""
        runtime, end_offset = self._runtime, shard.log_end_offset
        if len(draft):
            batch = await self._scheduler.in_thread(partial(draft.encode, writer, runtime.format))
            shard.check_current()
            draft.check_topics(shard.state.context.image)
            draft.check_again(rules().check)
            apply = partial(draft.apply, shard.state.offsets, writer.producer_id)
            end_offset = runtime.write_batch(shard, batch, apply, by)
        outcome = runtime.answers.answer(shard, end_offset, response)
        return await outcome if isinstance(outcome, Awaitable) else outcome

    async def commit_many_transactional(
        self,
        request: TxnOffsetCommitRequest,
        version: int,
        topic_ids: Mapping[str, TopicId],
        by: ProducedBy = BY_COORDINATOR,
    ) -> TxnOffsetCommitResponse:
        """As `commit_transactional`, for many offsets, and only for topics with these ids."""

        def rules() -> CommitRules:
            shard.state.check_usable(request.group_id)
            return offset_api.transactional_rules(shard.state, request, version)

        shard = self._named(request.group_id)
        draft = self._draft(shard, rules())
        response = await self._scheduler.run(
            offset_api.drafting_commit_transactional(request, topic_ids, draft)
        )
        writer = Writer(request.producer_id, request.producer_epoch)
        with offset_api.producer_errors():
            return await self._write_draft(shard, draft, response, rules, writer, by)

    def commit_transactional(
        self,
        request: TxnOffsetCommitRequest,
        version: int,
        by: ProducedBy = BY_COORDINATOR,
    ) -> Outcome[TxnOffsetCommitResponse]:
        """Offsets that take effect when the producer's transaction commits.

        The transaction must have been verified; `by` contains the guard of the verification.
        """
        shard = self._named(request.group_id)
        shard.state.check_usable(request.group_id)
        writer = Writer(request.producer_id, request.producer_epoch)
        return self._runtime.decide(
            shard,
            lambda state: offset_api.commit_transactional(state, request, version),
            writer,
            by,
        )

    def end_transaction(
        self,
        partition: int,
        writer: Writer,
        marker: EndMarker,
        by: ProducedBy = BY_COORDINATOR,
    ) -> Outcome[None]:
        """Write the marker that commits or discards a transaction's offsets."""
        shard = self._runtime.shard_at(partition)
        end_offset = self._runtime.write_marker(shard, writer, marker, by)
        return self._runtime.answers.answer(shard, end_offset, None)

    def fetch(
        self,
        shard: LoadedShard,
        wanted: OffsetFetchRequestGroup,
        require_stable: bool,
        *,
        at_once: bool = False,
    ) -> Steps[OffsetFetchResponseGroup]:
        """`at_once` if all slices run without interruption: then nothing is copied."""
        return offset_api.fetch(shard.state, wanted, require_stable, at_once=at_once)

    def delete(
        self, shard: LoadedShard, request: OffsetDeleteRequest
    ) -> Steps[OffsetDeleteResponse]:
        if not request.group_id:
            raise BrokerError(ErrorCode.INVALID_GROUP_ID)
        return offset_api.delete(shard.state, request, self._runtime.writer(shard))
