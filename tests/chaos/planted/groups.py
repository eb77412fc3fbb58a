"""Planted bugs of the group coordinator."""

from __future__ import annotations

from typing import Any

from tests.chaos.planted.plant import Patch, Plant

CLASSIC = "ottla.coordinators.groups.classic.group:ClassicGroup"
OFFSETS = "ottla.coordinators.groups.committed_offsets:CommittedOffsets"


def without_markers(real: Any) -> Any:
    """A coordinator that loads its state does not apply the offsets of transactions."""

    def applying(shard: Any, types: Any, data: bytes, offset: int) -> Any:
        state = shard.state
        state.apply_marker = lambda writer, _is_commit: type(state).apply_marker(
            state, writer, False
        )
        try:
            return (yield from real(shard, types, data, offset))
        finally:
            del state.apply_marker

    return applying


def any_committer(_real: Any) -> Any:
    return lambda _self, _by: None


def never_fenced(_real: Any) -> Any:
    def check_member(self: Any, member_id: str, instance_id: str | None) -> None:
        from ottla.protocol.error_codes import ErrorCode
        from ottla.protocol.errors import BrokerError

        if instance_id is None and member_id not in self.members:
            raise BrokerError(ErrorCode.UNKNOWN_MEMBER_ID)

    return check_member


def never_unstable(_real: Any) -> Any:
    return lambda _self, _name: False


GROUPS: dict[str, Plant] = {
    "offsets-differ-from-log": Plant(
        "a coordinator that loads its log leaves out the offsets of transactions",
        [Patch("ottla.coordinators.loading", "applying", without_markers)],
        ["kill", "elect"],
    ),
    "commit-generation-unchecked": Plant(
        "OffsetCommit is accepted from members of any generation, and from others",
        [Patch(CLASSIC, "check_commit", any_committer)],
        ["member"],
        hold_s=(12.0, 15.0),
        seconds=75.0,
        test=(
            "tests/unit/coordinators/groups/test_classic_groups.py "
            "tests/unit/coordinators/groups/test_committed_offsets.py"
        ),
    ),
    "static-member-not-fenced": Plant(
        "a static member that was replaced continues",
        [
            Patch(
                "ottla.coordinators.groups.classic.membership:Membership",
                "check_member",
                never_fenced,
            )
        ],
        ["replace"],
        expected="faults",  # that the member was replaced, and continues
        seconds=30.0,
    ),
    "expiry-beats-open-transaction": Plant(
        "an offset expires although an open transaction may change it",
        [Patch(OFFSETS, "is_unstable", never_unstable)],
        test="tests/unit/coordinators/groups/test_committed_offsets.py",
    ),
}
