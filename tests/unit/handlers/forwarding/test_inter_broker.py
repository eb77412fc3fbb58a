"""Every request between brokers does what it is for, at a controller that received it as bytes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.unit.handlers.forwarding.brokers import Brokers, run

from ottla.handlers.forwarding.relay import ForwardedAnswer, ForwardedClient, ForwardedRequest
from ottla.handlers.serving.served_apis import INTER_BROKER
from ottla.network.channel.errors import ChannelError
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.headers import decode_response_header, encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages import alter_partition_request as altering
from ottla.protocol.messages import assign_replicas_to_dirs_request as assigning
from ottla.protocol.messages import response_class
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from ottla.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest
from ottla.protocol.messages.create_topics_request import CreatableTopic, CreateTopicsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest

SIZE_BYTES = 4
CLIENT = ForwardedClient("User:alice", "10.1.2.3", "app")


# Requests of brokers


@pytest.mark.parametrize("version", [2, 3])
def test_a_leader_changes_the_in_sync_replicas(version: int) -> None:
    async def story(brokers: Brokers) -> None:
        leader, follower = brokers.other_id, brokers.controller_id
        topic = await brokers.create_topic("t", {0: [leader, follower]})
        before = brokers.partition("t")
        data = altering.PartitionData(
            0, before.leader_epoch, partition_epoch=before.partition_epoch
        )
        if version == 2:
            data.new_isr = [leader]
        else:
            data.new_isr_with_epochs = [altering.BrokerState(leader, brokers.epoch(leader))]
        request = altering.AlterPartitionRequest(
            leader, brokers.epoch(leader), [altering.TopicData(topic.id, [data])]
        )
        response = await brokers.ask(brokers.controller_id, request, version)
        assert response.error_code == 0
        (answer,) = response.topics[0].partitions
        assert (answer.error_code, list(answer.isr)) == (0, [leader])
        assert answer.partition_epoch == before.partition_epoch + 1
        again = await brokers.ask(brokers.controller_id, request, version)
        assert again.topics[0].partitions[0].error_code == ErrorCode.INVALID_UPDATE_VERSION

    run(story)


def test_a_replica_is_assigned_to_a_directory() -> None:
    async def story(brokers: Brokers) -> None:
        broker_id = brokers.other_id
        topic = await brokers.create_topic("t", {0: [broker_id]})
        (known,) = brokers.image(broker_id).brokers[broker_id].log_directories
        await brokers.until(
            lambda: brokers.partition("t").directory_of(broker_id) == known, "assigned"
        )
        for directory_id in (b"d" * 16, known):
            topics = [assigning.TopicData(topic.id, [assigning.PartitionData(0)])]
            request = assigning.AssignReplicasToDirsRequest(
                broker_id, brokers.epoch(broker_id), [assigning.DirectoryData(directory_id, topics)]
            )
            response = await brokers.ask(brokers.controller_id, request)
            assert response.error_code == 0
            (answer,) = response.directories
            assert answer.topics[0].partitions[0].error_code == 0
            assert brokers.partition("t").directory_of(broker_id) == directory_id

    run(story)


def test_a_heartbeat_tells_the_state_of_a_broker_and_changes_it() -> None:
    async def story(brokers: Brokers) -> None:
        broker_id = brokers.other_id
        epoch = brokers.epoch(broker_id)

        async def heartbeat(offset: int, **fields: Any) -> tuple[int, bool, bool, bool]:
            request = BrokerHeartbeatRequest(broker_id, epoch, offset, **fields)
            answer = await brokers.ask(brokers.controller_id, request)
            return (
                answer.error_code,
                answer.is_caught_up,
                answer.is_fenced,
                answer.should_shut_down,
            )

        assert await heartbeat(epoch) == (0, False, False, False)
        assert await heartbeat(epoch + 1) == (0, True, False, False)
        assert await heartbeat(epoch + 1, want_fence=True) == (0, True, True, False)
        await brokers.until(
            lambda: not brokers.image(brokers.controller_id).brokers[broker_id].is_fenced,
            "unfenced by itself",
        )
        assert await heartbeat(epoch + 1, want_shut_down=True) == (0, True, False, True)
        assert brokers.image(brokers.controller_id).brokers[broker_id].is_shutting_down

    run(story)


def test_a_broker_that_wants_to_stop_leads_nothing_any_more() -> None:
    async def story(brokers: Brokers) -> None:
        stopping, staying = brokers.other_id, brokers.controller_id
        await brokers.create_topic("both", {0: [stopping, staying]})
        await brokers.create_topic("alone", {0: [stopping]})
        await brokers.until(
            lambda: len(brokers.partition("both").in_sync_replicas) == 2, "both in sync"
        )
        request = BrokerHeartbeatRequest(
            stopping, brokers.epoch(stopping), brokers.epoch(stopping) + 1, want_shut_down=True
        )
        assert (await brokers.ask(staying, request)).should_shut_down
        assert brokers.partition("both").leader == staying
        assert not brokers.partition("alone").has_leader

    run(story)


def test_a_broker_that_stops_hands_over_what_it_leads() -> None:
    async def story(brokers: Brokers) -> None:
        stopping, staying = brokers.other_id, brokers.controller_id
        await brokers.create_topic("t", {0: [stopping, staying]})
        await brokers.until(
            lambda: len(brokers.partition("t").in_sync_replicas) == 2, "both in sync"
        )
        moved: list[bool] = []

        def note(image: Any, _changes: Any) -> None:
            broker = image.brokers[stopping]
            if not moved and (broker.is_fenced or broker.is_shutting_down):
                moved.append(not broker.is_fenced and brokers.partition("t").leader == staying)

        brokers.processes[staying].broker.publisher.subscribe(note)
        await brokers.processes[stopping].stop()
        await brokers.until(lambda: brokers.partition("t").leader == staying, "handed over")
        assert moved == [True], "its session ended first"

    run(story)


def test_a_broker_registers_again_with_the_session_that_it_has() -> None:
    async def story(brokers: Brokers) -> None:
        broker_id = brokers.other_id
        own = brokers.processes[broker_id].broker.control._membership._request  # type: ignore[attr-defined]
        answer = await brokers.ask(brokers.controller_id, own)
        assert (answer.error_code, answer.broker_epoch) == (0, brokers.epoch(broker_id))
        other = BrokerRegistrationRequest(
            broker_id, own.cluster_id, b"i" * 16, own.listeners, own.features, log_dirs=own.log_dirs
        )
        refused = await brokers.ask(brokers.controller_id, other)
        assert refused.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION

    run(story)


def test_blocks_of_producer_ids_do_not_overlap() -> None:
    async def story(brokers: Brokers) -> None:
        request = AllocateProducerIdsRequest(brokers.other_id, brokers.epoch(brokers.other_id))
        ends = [0]
        for _ in range(3):
            answer = await brokers.ask(brokers.controller_id, request)
            assert answer.error_code == 0
            assert answer.producer_id_start >= ends[-1]
            assert answer.producer_id_len > 0
            ends.append(answer.producer_id_start + answer.producer_id_len)

    run(story)


def test_a_broker_that_is_not_the_controller_says_so() -> None:
    async def story(brokers: Brokers) -> None:
        broker_id = brokers.other_id
        epoch = brokers.epoch(broker_id)
        for request in (
            AllocateProducerIdsRequest(broker_id, epoch),
            BrokerHeartbeatRequest(broker_id, epoch, epoch + 1),
            assigning.AssignReplicasToDirsRequest(broker_id, epoch),
            altering.AlterPartitionRequest(broker_id, epoch),
            forwarded(brokers, UnregisterBrokerRequest(99), 0).to_envelope(),
        ):
            answer = await brokers.ask(broker_id, request)
            assert answer.error_code == ErrorCode.NOT_CONTROLLER, type(request)

    run(story)


# Requests of clients in an Envelope


def forwarded(brokers: Brokers, request: Message, version: int) -> ForwardedRequest:
    key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests
    frame = b"".join(encode_request(key, version, 77, CLIENT.client_id, request))[SIZE_BYTES:]
    return ForwardedRequest(frame, CLIENT, brokers.other_id)


async def forward(brokers: Brokers, request: Message, version: int) -> tuple[ForwardedAnswer, Any]:
    envelope = forwarded(brokers, request, version).to_envelope()
    response = await brokers.ask(brokers.controller_id, envelope)
    assert response.error_code == 0
    answer = ForwardedAnswer.decode(response.response_data)
    body = memoryview(answer.frame)[SIZE_BYTES:]
    key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]
    correlation_id, at = decode_response_header(key, version, body)
    assert correlation_id == 77
    return answer, response_class(key).decode(body, version, at)


def test_the_answer_to_a_forwarded_request_has_the_offset_of_its_decision() -> None:
    async def story(brokers: Brokers) -> None:
        before = brokers.image(brokers.controller_id).offset
        request = CreateTopicsRequest([CreatableTopic("t", 1, 1)], timeout_ms=5000)
        answer, created = await forward(brokers, request, 7)
        assert created.topics[0].error_code == 0
        assert before < answer.metadata_offset <= brokers.image(brokers.controller_id).offset

    run(story)


def test_a_broker_has_applied_what_its_responses_contain() -> None:
    """Although that broker applies decisions later than the controller."""

    async def story(brokers: Brokers) -> None:
        for number in range(10):
            await brokers.create_topic(f"t{number}", {0: [brokers.controller_id]})

    run(story)


def test_what_a_forwarded_request_is_refused_with_is_its_answer() -> None:
    async def story(brokers: Brokers) -> None:
        _, unknown = await forward(brokers, UnregisterBrokerRequest(99), 0)
        assert unknown.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED
        _, running = await forward(brokers, UnregisterBrokerRequest(brokers.other_id), 0)
        assert running.error_code == ErrorCode.INVALID_REQUEST

    run(story)


def test_a_stopped_broker_is_removed_through_any_broker() -> None:
    async def story(brokers: Brokers) -> None:
        stopped = brokers.other_id
        await brokers.processes[stopped].stop()
        image = brokers.image(brokers.controller_id)
        await brokers.until(lambda: image.brokers[stopped].is_fenced, "fenced")
        _, removed = await forward(brokers, UnregisterBrokerRequest(stopped), 0)
        assert removed.error_code == 0
        assert stopped not in image.brokers

    run(story)


@pytest.mark.parametrize("request_", [MetadataRequest(None), AllocateProducerIdsRequest(1, 1)])
def test_only_what_the_controller_decides_is_forwarded(request_: Message) -> None:
    """Otherwise a client of one broker could send any request in the name of another client."""

    async def story(brokers: Brokers) -> None:
        envelope = forwarded(brokers, request_, request_.VERSIONS[-1]).to_envelope()
        with pytest.raises(ChannelError):
            await brokers.ask(brokers.controller_id, envelope)
        await asyncio.sleep(0)
        await forward(brokers, UnregisterBrokerRequest(99), 0)  # served as before

    run(story)


def test_every_request_between_brokers_is_tested_here() -> None:
    tested = (
        altering.AlterPartitionRequest.API_KEY,
        assigning.AssignReplicasToDirsRequest.API_KEY,
        BrokerHeartbeatRequest.API_KEY,
        BrokerRegistrationRequest.API_KEY,
        AllocateProducerIdsRequest.API_KEY,
        ApiKey.ENVELOPE,
    )
    assert set(tested) == set(INTER_BROKER)
