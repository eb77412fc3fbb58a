"""What tools see of groups: DescribeGroups, ListGroups, DeleteGroups."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.groups.harness import GROUP, HOST, ClassicClient, Harness, rebalance

from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.groups import membership_api
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_groups_response import DescribedGroupMember
from ottla.protocol.messages.list_groups_response import ListedGroup


@pytest.fixture
def harness() -> Harness:
    harness = Harness()
    harness.create_topic("t")
    return harness


def listed(harness: Harness, states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> set[str]:
    return set(list_groups(harness, states, types))


def list_groups(
    harness: Harness, states: tuple[str, ...] = (), types: tuple[str, ...] = ()
) -> dict[str, ListedGroup]:
    wanted = (run_blocking(membership_api.lowered(each)) for each in (states, types))
    found = run_blocking(membership_api.list_groups(harness.shard, *wanted))
    return {each.group_id: each for each in found}


def test_a_stable_group_is_described_with_subscriptions_and_assignments(harness: Harness) -> None:
    client = ClassicClient(harness, "app", instance_id="i", protocols={"range": b"topics"})
    rebalance(harness, client)
    group = run_blocking(membership_api.describe(harness.shard, GROUP, 6))
    assert (group.error_code, group.group_state) == (0, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    assert group.members == [
        DescribedGroupMember(client.member_id, "i", "app", HOST, b"topics", b"app")
    ]


def test_a_group_that_rebalances_is_described_without_subscriptions(harness: Harness) -> None:
    first, second = (ClassicClient(harness, protocols={"range": b"topics"}) for _ in range(2))
    rebalance(harness, first)
    second.join()
    group = run_blocking(membership_api.describe(harness.shard, GROUP, 6))
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert [each.member_metadata for each in group.members] == [b"", b""]


def test_a_group_that_only_holds_offsets_is_empty_and_has_no_protocol(harness: Harness) -> None:
    harness.commit({("t", 0): 1})
    group = run_blocking(membership_api.describe(harness.shard, GROUP, 6))
    assert (group.error_code, group.group_state, group.protocol_type) == (0, "Empty", "")


@pytest.mark.parametrize(("version", "code"), [(5, 0), (6, ErrorCode.GROUP_ID_NOT_FOUND)])
def test_a_group_that_does_not_exist_is_dead(harness: Harness, version: int, code: int) -> None:
    group = run_blocking(membership_api.describe(harness.shard, GROUP, version))
    assert (group.error_code, group.group_state) == (code, "Dead")


def test_groups_are_listed_by_state_and_type_in_any_case(harness: Harness) -> None:
    rebalance(harness, ClassicClient(harness, group_id="busy"))
    harness.commit({("t", 0): 1}, group_id="simple")
    assert listed(harness) == {"busy", "simple"}
    assert listed(harness, states=("stable",)) == {"busy"}
    assert listed(harness, states=(" EMPTY ", "Dead")) == {"simple"}
    assert listed(harness, types=("Classic",)) == {"busy", "simple"}
    assert listed(harness, types=("consumer",)) == set()
    assert listed(harness, states=("nonsense",)) == set()
    by_id = list_groups(harness)
    assert (by_id["busy"].protocol_type, by_id["busy"].group_type) == ("consumer", "classic")
    assert (by_id["simple"].protocol_type, by_id["simple"].group_state) == ("", "Empty")


def test_a_group_with_members_cannot_be_deleted(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    with pytest.raises(BrokerError) as refused:
        harness.delete_group()
    assert refused.value.code == ErrorCode.NON_EMPTY_GROUP


def test_a_deleted_group_is_gone_with_its_offsets(harness: Harness) -> None:
    client = ClassicClient(harness)
    rebalance(harness, client)
    client.commit({("t", 0): 5})
    client.leave()
    harness.delete_group()
    for _ in range(2):
        assert harness.shard.find(GROUP) is None
        assert harness.fetch("t", 0) == -1
        harness.restart()
    with pytest.raises(BrokerError) as refused:
        harness.delete_group()
    assert refused.value.code == ErrorCode.GROUP_ID_NOT_FOUND


def test_offsets_of_a_group_without_consumers_cannot_be_deleted_while_it_works(
    harness: Harness,
) -> None:
    rebalance(harness, ClassicClient(harness, protocol_type="connect"))
    with pytest.raises(BrokerError) as refused:
        harness.delete_offsets("t", [0])
    assert refused.value.code == ErrorCode.NON_EMPTY_GROUP
