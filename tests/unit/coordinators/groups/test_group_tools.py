"""What tools see of groups: DescribeGroups, ListGroups, DeleteGroups."""

from __future__ import annotations

import pytest
from tests.unit.coordinators.groups.bench import GROUP, HOST, Bench, ClassicClient, rebalance

from ottla.base.turns import run_at_once
from ottla.coordinators.groups import group_requests
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_groups_response import DescribedGroupMember
from ottla.protocol.messages.list_groups_response import ListedGroup


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create_topic("t")
    return bench


def listed(bench: Bench, states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> set[str]:
    return set(list_groups(bench, states, types))


def list_groups(
    bench: Bench, states: tuple[str, ...] = (), types: tuple[str, ...] = ()
) -> dict[str, ListedGroup]:
    wanted = (run_at_once(group_requests.lowered(each)) for each in (states, types))
    found = run_at_once(group_requests.list_groups(bench.shard, *wanted))
    return {each.group_id: each for each in found}


def test_a_stable_group_is_described_with_subscriptions_and_assignments(bench: Bench) -> None:
    client = ClassicClient(bench, "app", instance_id="i", protocols={"range": b"topics"})
    rebalance(bench, client)
    group = run_at_once(group_requests.describe(bench.shard, GROUP, 6))
    assert (group.error_code, group.group_state) == (0, "Stable")
    assert (group.protocol_type, group.protocol_data) == ("consumer", "range")
    assert group.members == [
        DescribedGroupMember(client.member_id, "i", "app", HOST, b"topics", b"app")
    ]


def test_a_group_that_rebalances_is_described_without_subscriptions(bench: Bench) -> None:
    first, second = ClassicClient(bench), ClassicClient(bench)
    rebalance(bench, first)
    second.join()
    group = run_at_once(group_requests.describe(bench.shard, GROUP, 6))
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert [each.member_metadata for each in group.members] == [b"", b""]


def test_a_group_that_only_holds_offsets_is_empty_and_has_no_protocol(bench: Bench) -> None:
    bench.commit({("t", 0): 1})
    group = run_at_once(group_requests.describe(bench.shard, GROUP, 6))
    assert (group.error_code, group.group_state, group.protocol_type) == (0, "Empty", "")


@pytest.mark.parametrize(("version", "code"), [(5, 0), (6, ErrorCode.GROUP_ID_NOT_FOUND)])
def test_a_group_that_does_not_exist_is_dead(bench: Bench, version: int, code: int) -> None:
    group = run_at_once(group_requests.describe(bench.shard, GROUP, version))
    assert (group.error_code, group.group_state) == (code, "Dead")


def test_groups_are_listed_by_state_and_type_in_any_case(bench: Bench) -> None:
    rebalance(bench, ClassicClient(bench, group_id="busy"))
    bench.commit({("t", 0): 1}, group_id="simple")
    assert listed(bench) == {"busy", "simple"}
    assert listed(bench, states=("stable",)) == {"busy"}
    assert listed(bench, states=(" EMPTY ", "Dead")) == {"simple"}
    assert listed(bench, types=("Classic",)) == {"busy", "simple"}
    assert listed(bench, types=("consumer",)) == set()
    assert listed(bench, states=("nonsense",)) == set()
    by_id = list_groups(bench)
    assert (by_id["busy"].protocol_type, by_id["busy"].group_type) == ("consumer", "classic")
    assert (by_id["simple"].protocol_type, by_id["simple"].group_state) == ("", "Empty")


def test_a_group_with_members_cannot_be_deleted(bench: Bench) -> None:
    client = ClassicClient(bench)
    rebalance(bench, client)
    with pytest.raises(BrokerError) as refused:
        bench.delete_group()
    assert refused.value.code == ErrorCode.NON_EMPTY_GROUP


def test_a_deleted_group_is_gone_with_its_offsets(bench: Bench) -> None:
    client = ClassicClient(bench)
    rebalance(bench, client)
    client.commit({("t", 0): 5})
    client.leave()
    bench.delete_group()
    for _ in range(2):
        assert bench.shard.find(GROUP) is None
        assert bench.fetch("t", 0) == -1
        bench.restart()
    with pytest.raises(BrokerError) as refused:
        bench.delete_group()
    assert refused.value.code == ErrorCode.GROUP_ID_NOT_FOUND


def test_offsets_of_a_group_without_consumers_cannot_be_deleted_while_it_works(
    bench: Bench,
) -> None:
    rebalance(bench, ClassicClient(bench, protocol_type="connect"))
    with pytest.raises(BrokerError) as refused:
        bench.delete_offsets("t", [0])
    assert refused.value.code == ErrorCode.NON_EMPTY_GROUP
