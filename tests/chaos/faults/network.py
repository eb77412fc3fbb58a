"""Faults of the network: cuts of several shapes, delays and resets.

Bytes that are held arrive when the cut ends, as TCP's would.
"""

from __future__ import annotations

import time
from functools import partial

from tests.chaos.faults.context import Fault, FaultContext
from tests.chaos.network.rules import Direction, Rule

REQUESTS, ANSWERS = (Direction.REQUESTS,), (Direction.ANSWERS,)


def between_brokers(broker_id: int) -> list[Rule]:
    """Both directions, whichever side has opened the connection."""
    return [Rule("*", f"brokers-{broker_id}"), Rule(f"broker-{broker_id}", "brokers-*")]


def from_one_to_another(source: int | str, target: int | str) -> list[Rule]:
    """What `source` sends does not arrive; what `target` sends does. "*" are all brokers."""
    return [
        Rule(f"broker-{source}", f"brokers-{target}", REQUESTS),
        Rule(f"broker-{target}", f"brokers-{source}", ANSWERS),
    ]


def alone(context: FaultContext) -> str:
    """A broker without other brokers, ZooKeeper and clients."""
    broker_id = context.pick("any")
    rules = [
        *between_brokers(broker_id),
        Rule("*", f"zookeeper-{broker_id}"),
        Rule("*", f"clients-{broker_id}"),
    ]
    return f"broker {broker_id} alone for {context.cut(rules, leaving=broker_id):.1f} s"


def leader_from_followers(context: FaultContext) -> str:
    """It still has its clients and ZooKeeper."""
    broker_id = context.pick("leader")
    leaving = context.unless_controller(broker_id)
    seconds = context.cut(between_brokers(broker_id), leaving)
    return f"broker {broker_id}, leader, cut from other brokers for {seconds:.1f} s"


def from_zookeeper(context: FaultContext) -> str:
    role = context.rng.choice(["leader", "controller", "follower"])
    broker_id = context.pick(role)
    seconds = context.cut([Rule("*", f"zookeeper-{broker_id}")])
    return f"broker {broker_id}, {role}, cut from ZooKeeper for {seconds:.1f} s"


def deaf(context: FaultContext) -> str:
    """It sends to other brokers, and receives nothing from them."""
    broker_id = context.pick("leader")
    leaving = context.unless_controller(broker_id)
    seconds = context.cut(from_one_to_another("*", broker_id), leaving)
    return f"broker {broker_id} hears no other broker for {seconds:.1f} s"


def mute(context: FaultContext) -> str:
    broker_id = context.pick("leader")
    leaving = context.unless_controller(broker_id)
    seconds = context.cut(from_one_to_another(broker_id, "*"), leaving)
    return f"broker {broker_id} is heard by no other broker for {seconds:.1f} s"


def ring(context: FaultContext) -> str:
    """Only the broker before it receives what a broker sends."""
    ids = list(context.cluster.ids)
    rules = [
        rule
        for at, broker_id in enumerate(ids)
        for rule in from_one_to_another(broker_id, ids[(at + 1) % len(ids)])
    ]
    return f"one-way ring of brokers for {context.cut(rules):.1f} s"


def clients_from_broker(context: FaultContext) -> str:
    broker_id = context.pick("leader")
    seconds = context.cut([Rule("*", f"clients-{broker_id}")])
    return f"all clients cut from broker {broker_id} for {seconds:.1f} s"


def one_client(context: FaultContext) -> str:
    client = context.rng.choice(context.clients)
    seconds = context.cut([Rule(f"{client.task.name}.*", "clients-*")])
    return f"{client.names[-1]} cut from all brokers for {seconds:.1f} s"


def unanswered_clients(context: FaultContext) -> str:
    """Requests are carried out, and clients must repeat them."""
    broker_id = context.pick("leader")
    seconds = context.cut([Rule("*", f"clients-{broker_id}", ANSWERS)])
    context.cluster.network.reset("*", f"clients-{broker_id}")
    return f"no answers of broker {broker_id} to clients for {seconds:.1f} s, then resets"


def delay(context: FaultContext) -> str:
    broker_id, delay_s = context.pick("any"), context.rng.uniform(0.05, 2.0)
    rules = [
        Rule("*", f"brokers-{broker_id}", delay_s=delay_s),
        Rule(f"broker-{broker_id}", "brokers-*", delay_s=delay_s),
    ]
    seconds = context.cut(rules)
    return f"delays of {delay_s:.2f} s between broker {broker_id} and others for {seconds:.1f} s"


def delay_clients(context: FaultContext) -> str:
    broker_id, delay_s = context.pick("leader"), context.rng.uniform(0.05, 2.0)
    seconds = context.cut([Rule("*", f"clients-{broker_id}", delay_s=delay_s)])
    return f"delays of {delay_s:.2f} s between clients and {broker_id} for {seconds:.1f} s"


def delay_zookeeper(context: FaultContext) -> str:
    broker_id, delay_s = context.pick("controller"), context.rng.uniform(0.05, 1.0)
    seconds = context.cut([Rule("*", f"zookeeper-{broker_id}", delay_s=delay_s)])
    return f"delays of {delay_s:.2f} s between broker {broker_id} and ZooKeeper, {seconds:.1f} s"


def reset(context: FaultContext) -> str:
    door = context.rng.choice(["clients", "brokers", "zookeeper"])
    broker_id = context.pick("any")
    count = context.cluster.network.reset("*", f"{door}-{broker_id}")
    return f"{count} connections of {door}-{broker_id} reset"


def lossy(context: FaultContext) -> str:
    """Requests of clients are carried out; some answers are lost, each with its connection."""
    before = context.cluster.network.dropped()
    share = context.rng.uniform(0.02, 0.3)
    seconds = context.cut([Rule("*", "clients-*", ANSWERS, drop_share=share)])
    count = context.cluster.network.dropped() - before
    return f"{count} answers to clients dropped in {seconds:.1f} s"


def unanswered_restart(context: FaultContext) -> str:
    """What clients have sent is written, and they get no response before all brokers are killed:
    they must repeat it to brokers that know their producers from logs only."""
    cluster = context.cluster
    cluster.network.apply([Rule("*", "clients-*", ANSWERS)])
    time.sleep(context.rng.uniform(0.5, 2.0))
    chosen = cluster.running()
    for broker_id in chosen:
        cluster.kill(broker_id)
    cluster.network.reset("*", "clients-*")
    cluster.network.heal()
    for broker_id in context.rng.sample(chosen, len(chosen)):
        cluster.start(broker_id)
    return f"kill -9 of all brokers, {chosen}, after no answers to clients"


def flip(context: FaultContext) -> str:
    """Bits of records change on their way: from producers, and from leaders to followers. Not from
    aiokafka, which does not repeat a batch that arrived with a wrong checksum."""
    before = context.cluster.network.flipped()
    rules = [
        *(
            Rule(each, "clients-*", REQUESTS, flip_share=0.2)
            for each in ("producer-1.*", "writer-1.*", "copier-*")
        ),
        Rule("*", "brokers-*", ANSWERS, flip_share=0.2),
    ]
    seconds = context.cut(rules)
    count = context.cluster.network.flipped() - before
    return f"{count} bits of records changed in {seconds:.1f} s"


def strand(context: FaultContext, role: str) -> str:
    """It still has its clients and ZooKeeper, and ends before other brokers reach it again."""
    broker_id = context.pick(role)
    context.cluster.network.apply(between_brokers(broker_id))
    seconds = context.hold()
    context.cluster.kill(broker_id)
    context.cluster.network.heal()
    time.sleep(context.rng.uniform(0.5, 3.0))
    context.cluster.start(broker_id)
    return f"broker {broker_id}, {role}, cut from other brokers for {seconds:.1f} s, then killed"


CUT: list[Fault] = [
    alone,
    leader_from_followers,
    from_zookeeper,
    deaf,
    mute,
    ring,
    clients_from_broker,
    one_client,
    unanswered_clients,
]
DELAY: list[Fault] = [delay, delay_clients, delay_zookeeper]
RESET: list[Fault] = [reset]
LOSE: list[Fault] = [lossy, lossy, unanswered_restart]
FLIP: list[Fault] = [flip]
STRAND: list[Fault] = [partial(strand, role=role) for role in ("leader", "controller")]
