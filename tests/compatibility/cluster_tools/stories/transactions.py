"""kafka-transactions with coordinators and partitions on several brokers."""

from __future__ import annotations

import re

from tests.compatibility.cluster_tools.session import ToolSession
from tests.support.java_clients import ABORT, BEGIN, CLOSE, FLUSH, send

TRANSACTIONS = "TransactionsCommand"
IDS = ("tx-0", "tx-1", "tx-2")


def transactions(session: ToolSession) -> None:
    session.topic("transacted", "1:2:3,2:3:1,3:1:2")
    for at, name in enumerate(IDS):
        records = [send("transacted", b"x", partition=each) for each in range(3)]
        configs = {"transactional.id": name, "transaction.timeout.ms": "600000"}
        session.clients.produce(name, [BEGIN, *records[: at + 1], FLUSH], configs)
    show_sorted(session, "list", "list")
    show_sorted(session, "list by pattern", "list", "--transactional-id-pattern", "tx-[01]")
    for name in (*IDS, "missing"):
        session.show(f"describe {name}", TRANSACTIONS, "describe", "--transactional-id", name,
                     change=without_age)  # fmt: skip
    for partition in range(3):
        where = ("--topic", "transacted", "--partition", str(partition))
        show_sorted(session, f"producers of {partition}", "describe-producers", *where)
    at_follower = ("--topic", "transacted", "--partition", "0", "--broker-id", "2")
    show_sorted(session, "producers at a follower", "describe-producers", *at_follower)
    for broker_id in range(1, 4):
        hanging = ("find-hanging", "--broker-id", str(broker_id), "--max-transaction-timeout", "15")
        session.show(f"hanging at {broker_id}", TRANSACTIONS, *hanging)
    session.show(
        "abort", TRANSACTIONS, "abort", "--topic", "transacted", "--partition", "2",
        "--start-offset", "0",
    )  # fmt: skip
    session.show(
        "terminate", TRANSACTIONS, "forceTerminateTransaction", "--transactionalId", IDS[0]
    )
    session.clients.produce(IDS[1], [ABORT, CLOSE])
    terminate = ("forceTerminateTransaction", "--transactionalId", IDS[2])
    session.show("terminate after abort", TRANSACTIONS, *terminate)
    session.until(lambda text: "Ongoing" not in text, TRANSACTIONS, "list")
    show_sorted(session, "list at the end", "list")


def show_sorted(session: ToolSession, name: str, *arguments: str) -> None:
    """The order of brokers' answers is none; the heading is sorted with the rest."""
    session.show(name, TRANSACTIONS, *arguments, change=without_producer, is_ordered=False)


def without_producer(line: str) -> str:
    """Its id: in the first column of producers, behind the transactional id elsewhere."""
    line = re.sub(r"^\d+ (\d+ -?\d+ \d+ <ms>)", r"<producer> \1", line)
    line = re.sub(r"^(\d tx-\d) \d+ ", r"\1 <producer> ", line)
    return re.sub(r"^(tx-\d \d) \d+ ", r"\1 <producer> ", line)


def without_age(line: str) -> str:
    return re.sub(r"<ms> \d+\b", "<ms> <age>", without_producer(line))
