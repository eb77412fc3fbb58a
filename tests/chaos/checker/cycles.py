"""Cycles of dependencies between transactions.

T1 -> T2 by a read     T2 polled a value that T1 sent: T1 was committed before
T1 -> T2 by a write    T2's value follows T1's in the order of a key
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from tests.chaos.checker.analysis import Analysis
from tests.chaos.checker.anomalies import Anomaly, Finding
from tests.chaos.checker.history import Operation, Result

Graph = Mapping[int, set[int]]  # transactions by their number


def read_cycles(analysis: Analysis) -> Iterator[Finding]:
    transactions = analysis.transactions()
    yield from _found(Anomaly.READ_CYCLE, transactions, _read_edges(analysis, transactions))


def write_cycles(analysis: Analysis) -> Iterator[Finding]:
    committed = [each for each in analysis.transactions() if each.result is Result.OK]
    yield from _found(Anomaly.WRITE_CYCLE, committed, _write_edges(analysis, committed))


def _found(anomaly: Anomaly, transactions: list[Operation], graph: Graph) -> Iterator[Finding]:
    for cycle in components(graph):
        names = [f"{transactions[at].process} at {transactions[at].start_s:.3f} s" for at in cycle]
        yield Finding(anomaly, "*", " <-> ".join(names))


def _read_edges(analysis: Analysis, transactions: list[Operation]) -> Graph:
    number_of = {id(each): at for at, each in enumerate(transactions)}
    graph: defaultdict[int, set[int]] = defaultdict(set)
    for reader, transaction in enumerate(transactions):
        for key, _, value in transaction.reads:
            writer = number_of.get(id(analysis.writer_of.get((key, value))))
            if writer is not None and writer != reader:
                graph[writer].add(reader)
    return graph


def _write_edges(analysis: Analysis, transactions: list[Operation]) -> Graph:
    writers: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for number, transaction in enumerate(transactions):
        for send in transaction.sends:
            offset = analysis.orders[send.key].offset_of(send.value)
            if offset is not None:
                writers[send.key][offset] = number
    graph: defaultdict[int, set[int]] = defaultdict(set)
    for by_offset in writers.values():
        in_order = [by_offset[offset] for offset in sorted(by_offset)]
        for before, after in pairwise(in_order):
            if before != after:
                graph[before].add(after)
    return graph


def components(graph: Graph) -> list[list[int]]:
    """The strongly connected components of more than one node (Tarjan, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    found: list[list[int]] = []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph.get(root, ()))))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, following = work[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = _take(stack, on_stack, node)
                    if len(component) > 1:
                        found.append(component)
    return found


def _take(stack: list[int], on_stack: set[int], until: int) -> list[int]:
    component: list[int] = []
    while True:
        node = stack.pop()
        on_stack.discard(node)
        component.append(node)
        if node == until:
            return sorted(component)
