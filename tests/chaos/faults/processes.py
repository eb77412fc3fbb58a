"""Faults of processes: killed, stopped and paused brokers, ZooKeeper and clients."""

from __future__ import annotations

import signal
import subprocess
import time
from functools import partial

from tests.chaos.clients.processes import ClientProcess, end
from tests.chaos.clients.worker import FENCED
from tests.chaos.cluster.topics import wait_until_whole
from tests.chaos.faults.context import Fault, FaultContext

LEAVE_S = 60.0
FENCED_S = 60.0
FENCED_POLL_S = 0.1
ROLES = ("leader", "controller", "follower")


def kill(context: FaultContext, role: str) -> str:
    broker_id = context.pick(role)
    context.cluster.kill(broker_id)
    down_s = context.rng.uniform(0.0, 4.0)
    time.sleep(down_s)
    context.cluster.start(broker_id)
    return f"kill -9 of broker {broker_id}, {role}, down for {down_s:.1f} s"


def kill_two(context: FaultContext) -> str:
    """Fewer copies are left than min.insync.replicas: nothing is acknowledged, nothing is lost."""
    chosen = context.rng.sample(context.cluster.running(), 2)
    for broker_id in chosen:
        context.cluster.kill(broker_id)
    time.sleep(context.rng.uniform(0.0, 3.0))
    for broker_id in chosen:
        context.cluster.start(broker_id)
    return f"kill -9 of brokers {chosen}"


def kill_all(context: FaultContext) -> str:
    chosen = context.cluster.running()
    for broker_id in chosen:
        context.cluster.kill(broker_id)
    for broker_id in context.rng.sample(chosen, len(chosen)):
        context.cluster.start(broker_id)
    return f"kill -9 of all brokers, {chosen}"


def last_standing(context: FaultContext) -> str:
    """All are killed, one after the other, and the one that was left alone starts last."""
    first, second, last = context.rng.sample(list(context.cluster.ids), 3)
    context.cluster.kill(first)
    time.sleep(context.rng.uniform(0.5, 2.0))
    context.cluster.kill(second)
    seconds = context.hold()
    context.cluster.kill(last)
    context.cluster.start(first)
    context.cluster.start(second)
    time.sleep(context.rng.uniform(0.0, 3.0))
    context.cluster.start(last)
    return f"kill -9 of brokers {first}, {second} and, {seconds:.1f} s later, {last}"


def terminate(context: FaultContext, role: str) -> str:
    broker_id = context.pick(role)
    code = context.cluster.stop(broker_id)
    context.cluster.start(broker_id)
    return f"SIGTERM to broker {broker_id}, {role}, exit code {code}"


def roll(context: FaultContext) -> str:
    """All brokers, one after the other."""
    began_s = time.monotonic()
    for broker_id in context.rng.sample(list(context.cluster.ids), len(context.cluster.ids)):
        context.cluster.stop(broker_id)
        context.cluster.start(broker_id)
        wait_until_whole(context.cluster, 60.0)
    return f"rolling restart in {time.monotonic() - began_s:.1f} s"


def pause(context: FaultContext, role: str) -> str:
    broker_id = context.pick(role)
    context.cluster.pause(broker_id)
    seconds = context.hold()
    context.cluster.resume(broker_id)
    return f"SIGSTOP of broker {broker_id}, {role}, for {seconds:.1f} s"


def kill_zookeeper(context: FaultContext) -> str:
    context.cluster.restart_zookeeper()
    return "kill -9 of ZooKeeper"


def pause_zookeeper(context: FaultContext) -> str:
    context.cluster.pause_zookeeper()
    seconds = context.hold()
    context.cluster.resume_zookeeper()
    return f"SIGSTOP of ZooKeeper for {seconds:.1f} s"


def kill_client(context: FaultContext) -> str:
    """A client, and a successor with the same transactional id or group."""
    client = context.rng.choice(context.clients)
    name = client.names[-1]
    client.kill()
    client.start()
    return f"kill -9 of {name}"


def pause_client(context: FaultContext) -> str:
    client = context.rng.choice(context.clients)
    client.pause()
    seconds = context.hold()
    client.resume()
    return f"SIGSTOP of {client.names[-1]} for {seconds:.1f} s"


def supersede_writer(context: FaultContext) -> str:
    """A client with a transactional id is paused, replaced, and continues: it must be fenced."""
    client = context.rng.choice(context.transactional())
    name = client.names[-1]
    old = client.supersede()
    seconds = context.hold()
    old.send_signal(signal.SIGCONT)
    time.sleep(context.rng.uniform(2.0, 5.0))
    old.kill()
    end(old)
    return f"{name} paused for {seconds:.1f} s, and replaced meanwhile"


def replace_static(context: FaultContext) -> str:
    """A static member is paused, and another one takes its place: one of both must be fenced.

    As in Kafka, the last one to join with the instance id has it. A member that notices by itself
    that its session has ended joins again as a new one, without its member id: then that is the
    paused one, and its successor is fenced.
    """
    client = context.rng.choice(context.static_members())
    name = client.names[-1]
    old = client.supersede()
    seconds = context.hold()
    old.send_signal(signal.SIGCONT)
    fenced = name if is_first_to_be_fenced(old, client) else client.names[-1]
    if fenced != name:
        old.kill()
        end(old)
        client.revive()
    return f"{name} paused for {seconds:.1f} s, replaced meanwhile; {fenced} fenced"


def is_first_to_be_fenced(old: subprocess.Popen[bytes], successor: ClientProcess) -> bool:
    """AssertionError if both continue, or if the old one ends otherwise."""
    deadline_s = time.monotonic() + FENCED_S
    while time.monotonic() < deadline_s:
        if old.poll() is not None:
            code = end(old)
            assert code == FENCED, f"a member was replaced, and ended with code {code}"
            return True
        if successor.is_fenced:
            return False
        time.sleep(FENCED_POLL_S)
    old.kill()
    end(old)
    raise AssertionError(f"{successor.names[-2]} and {successor.names[-1]} both continue")


def kill_member(context: FaultContext) -> str:
    client = context.rng.choice(context.members())
    name = client.names[-1]
    client.kill()
    time.sleep(context.rng.uniform(0.0, 2.0))
    client.start()
    return f"kill -9 of {name}"


def leave(context: FaultContext) -> str:
    """A member leaves its group, and another one joins."""
    client = context.rng.choice(context.members())
    name = client.names[-1]
    client.ask_to_stop()
    client.wait(time.monotonic() + LEAVE_S)
    client.start()
    return f"{name} left its group"


def pause_member(context: FaultContext) -> str:
    client = context.rng.choice(context.members())
    client.pause()
    seconds = context.hold()
    client.resume()
    return f"SIGSTOP of {client.names[-1]} for {seconds:.1f} s"


def for_roles(fault: object) -> list[Fault]:
    assert callable(fault)
    return [partial(fault, role=role) for role in ROLES]


KILL: list[Fault] = [*for_roles(kill), *for_roles(kill), kill_two, kill_all]
KILL_ONE: list[Fault] = for_roles(kill)
TERMINATE: list[Fault] = for_roles(terminate)
PAUSE: list[Fault] = for_roles(pause)
ZOOKEEPER: list[Fault] = [kill_zookeeper, pause_zookeeper]
CLIENT: list[Fault] = [kill_client, kill_client, pause_client]
MEMBER: list[Fault] = [leave, leave, kill_member, pause_member]
ROLL: list[Fault] = [roll]
LAST: list[Fault] = [last_standing]
ZOMBIE: list[Fault] = [supersede_writer]
REPLACE: list[Fault] = [replace_static]
