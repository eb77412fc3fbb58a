"""Known ways to lose committed records, step by step. Brokers are 1, 2 and 3; 1 leads first."""

from __future__ import annotations

from collections.abc import Callable

from tests.simulation.partitions.world import AlterExchange, World

Script = Callable[[World], None]


def copy(world: World, *followers: int) -> None:
    """A whole fetch of each: what the leader has, and its high watermark so far."""
    for broker_id in followers:
        exchange = world.fetch(world.process(broker_id))
        if exchange is not None:
            world.deliver(exchange)
            world.deliver(exchange)
        world.check()


def copy_unnoticed(world: World, *followers: int) -> None:
    """The leader is notified of the fetch, and the follower gets no response."""
    for broker_id in followers:
        exchange = world.fetch(world.process(broker_id))
        assert exchange is not None
        world.deliver(exchange)
        world.lose(exchange)
        world.check()


def deliver(world: World, *brokers: int) -> None:
    for broker_id in brokers:
        world.deliver_metadata(world.brokers[broker_id], count=1000)


def produce(world: World, broker_id: int, count: int = 1) -> None:
    for _ in range(count):
        world.produce(world.process(broker_id))
        world.check()


def end_session(world: World, broker_id: int) -> None:
    world.end_session(world.brokers[broker_id])


def lose_power(world: World, broker_id: int) -> None:
    broker = world.brokers[broker_id]
    assert world.may_crash(broker, loses_power=True)
    world.crash(broker, loses_power=True)


def kill(world: World, broker_id: int) -> None:
    world.crash(world.brokers[broker_id], loses_power=False)


def restart(world: World, broker_id: int) -> None:
    """Started, registered and unfenced."""
    broker = world.brokers[broker_id]
    world.start(broker)
    world.register(broker)
    deliver(world, broker_id)
    world.decide_unfence(world.process(broker_id))
    deliver(world, broker_id)
    world.check()


def request(world: World, broker_id: int) -> AlterExchange:
    exchange = world.alter(world.process(broker_id))
    assert exchange is not None
    return exchange


def last_replica_standing(world: World) -> None:
    """The only replica in sync loses its records, and comes back first (KIP-966)."""
    produce(world, 1, 5)
    copy(world, 2, 3)
    copy(world, 2, 3)
    end_session(world, 2)
    end_session(world, 3)
    deliver(world, 1)
    produce(world, 1)
    assert world.decided.in_sync_replicas == (1,)
    lose_power(world, 1)
    end_session(world, 1)
    restart(world, 1)
    deliver(world, 2, 3)


def truncation_before_a_fetch(world: World) -> None:
    """A follower that does not know the high watermark follows, and then leads (KIP-101)."""
    produce(world, 1)
    copy(world, 2, 3)
    copy_unnoticed(world, 2, 3)
    assert world.judge.acknowledged
    end_session(world, 1)
    deliver(world, 2, 3)
    assert world.decided.leader == 2
    end_session(world, 2)
    deliver(world, 3)
    assert world.decided.leader == 3
    world.check()


def divergence_after_failures(world: World) -> None:
    """Two leaders append at the same offset, and the first comes back (KIP-101)."""
    produce(world, 1, 2)
    copy(world, 2, 3)
    produce(world, 1, 2)
    kill(world, 1)
    end_session(world, 1)
    deliver(world, 2, 3)
    produce(world, 2, 3)
    copy(world, 3)
    copy(world, 3)
    restart(world, 1)


def double_fail_over(world: World) -> None:
    """Three leaders in turn, each with records that no other has (KIP-279)."""
    produce(world, 1, 2)
    copy(world, 2, 3)
    copy(world, 2, 3)
    produce(world, 1, 3)
    kill(world, 1)
    end_session(world, 1)
    deliver(world, 2, 3)
    produce(world, 2, 2)
    kill(world, 2)
    end_session(world, 2)
    deliver(world, 3)
    assert world.decided.leader == 3
    restart(world, 1)
    restart(world, 2)
    deliver(world, 1, 3)
    copy(world, 1)
    produce(world, 3, 4)
    copy(world, 2)
    copy(world, 1, 2)


def zombie_leader(world: World) -> None:
    """A leader that was replaced and does not know it."""
    produce(world, 1)
    copy(world, 2, 3)
    end_session(world, 1)
    deliver(world, 2)
    acknowledged = len(world.judge.acknowledged)
    produce(world, 1, 2)
    copy(world, 3)  # it has not received it either
    copy(world, 3)
    assert len(world.judge.acknowledged) == acknowledged
    produce(world, 2, 3)
    deliver(world, 3)
    copy(world, 3)
    copy(world, 3)
    deliver(world, 1)


def broker_epoch_reuse(world: World) -> None:
    """A follower was about to be in sync when it lost its records and started again."""
    end_session(world, 2)
    deliver(world, 1, 2, 3)
    world.decide_unfence(world.process(2))
    produce(world, 1, 3)
    deliver(world, 1, 2, 3)
    copy(world, 2, 3)
    copy(world, 2, 3)
    assert world.judge.acknowledged
    under_way = request(world, 1)
    lose_power(world, 2)
    restart(world, 2)
    world.deliver(under_way)
    end_session(world, 1)
    deliver(world, 2, 3)
    world.check()


def change_races_election(world: World) -> None:
    """A leader drops a follower that the controller elects at the same time."""
    produce(world, 1)
    copy(world, 2, 3)
    copy(world, 2, 3)
    world.wait(900)
    copy(world, 3)
    world.wait(900)
    produce(world, 1)
    copy(world, 3)
    under_way = request(world, 1)
    copy(world, 3)
    end_session(world, 1)
    world.deliver(under_way)
    deliver(world, 2)
    assert world.decided.leader == 2
    world.check()


# Each with a planted fault that it finds.
SCRIPTS: dict[Script, str] = {
    last_replica_standing: "unclean registration kept in sync",
    truncation_before_a_fetch: "truncate to the high watermark",
    divergence_after_failures: "no epoch checks in Fetch",
    double_fail_over: "no epoch checks in Fetch",
    zombie_leader: "ack before the high watermark",
    broker_epoch_reuse: "any incarnation may be in sync",
    change_races_election: "count only the requested replicas",
}
