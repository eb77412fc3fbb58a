"""The page `docs/reference/differences.md`: every allowed difference, from the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.compatibility.differential.allowed import Allowed
from tests.compatibility.differential.cluster_differences import CLUSTER_ALLOWED
from tests.compatibility.differential.differences import ALLOWED
from tests.compatibility.differential.judging import served_runs
from tests.compatibility.differential.recording import shown_versions
from tests.compatibility.differential.scripting import CLUSTER, Run, all_runs

from ottla.protocol.api_keys import APIS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "differences.md"
_HEADER = """\
<!-- Generated from tests/compatibility/differential/differences.py. Do not edit:
     python -m tools.differential --page renews it. -->

# Where answers differ from Apache Kafka's

{runs:,} scripts send the same requests, valid and invalid, in all versions to Apache Kafka
4.3.1 and to Ottla, and the answers are compared field by field. These are the differences. Every
other field of every answer to them is the same, error codes included; an entry that is no longer
true fails the tests, too. What [random requests](#random-requests) found besides is at the end.

Not compared: values that differ in every run (ids, ports, times, the size of disks), the words of
error messages, and the order of lists that come from a hash table in Kafka.

In fields and requests `*` matches anything. The names of requests are those of the scripts.

| API | versions | request | field | why |
| --- | --- | --- | --- | --- |
"""
_CLUSTER = """
## Three brokers

{runs:,} scripts, in the oldest and the newest version of their API, ask each of three brokers of
both implementations: about partitions that others lead, groups and transactions that others
coordinate, and settings of others, while all run, after one has stopped, and after it is back.
Partitions are assigned to brokers by the script, with one replica wherever records are written, and
replicas are added only on the broker that has stopped: how fast records are copied is not compared.
Nor is the quorum of Kafka's controllers, in whose place there is ZooKeeper, and which broker is
named as the controller: Kafka names any that runs. These are the differences:

| API | versions | request | field | why |
| --- | --- | --- | --- | --- |
"""
_FOOTER = """
## Random requests

Random sequences of requests are sent to both brokers as well, about logs, transactions, groups and
administration (`python -m tests.compatibility.random_requests`). Besides the entries above they
leave out:

- A member that is rejected with GROUP_MAX_SIZE_REACHED during a rebalance: Kafka continues to wait
  for the member that it has just removed, Ottla does not.
- A second JoinGroup or SyncGroup of a member while its first one waits: Kafka never answers the
  first, Ottla answers REBALANCE_IN_PROGRESS.
- A member that leaves while its SyncGroup waits: Kafka never answers that, Ottla answers
  UNKNOWN_MEMBER_ID.
- A member that has only received its id and then joins as a static member: Kafka answers
  UNKNOWN_SERVER_ERROR, Ottla UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID.
- A consumer group of several members that becomes a classic one: Kafka's hash table chooses the
  leader, so such a sequence ends there.
- A classic member without topics that joins a consumer group: Kafka gives it the topics of another
  member, which its hash table chooses.
- A classic group that becomes a consumer group while a member joins that does not know the protocol
  of the others: Kafka answers the first member of the new kind with UNKNOWN_SERVER_ERROR, Ottla
  accepts it.
- A member with a timeout of 0 for revoking partitions: timers race with the next request.
- A number with blanks around it as a setting of a group: Kafka stores it, but cannot read the
  settings of the group after that.
- The order of topics and partitions in an assignment, which are sets to Kafka.

Sequences that pause while both brokers are started again
(`python -m tests.compatibility.random_requests.restarting`) have two more differences:

- A broker of Kafka that stops gives up its partitions, and leads them two epochs later when it is
  back. A broker of Ottla continues in the same epoch.
- Kafka forgets producers whose last record has a time older than `producer.id.expiration.ms` when
  it starts and every ten minutes, Ottla every ten minutes.

## Quotas

How long clients wait is compared with Kafka's own quota managers, in 10,000 random sequences of
charges and changes, and is the same to the millisecond. Three things differ:

- Data that is larger than eleven seconds of a reader's quota, as a single batch may be: Kafka never
  sends it, and the reader hangs; Ottla sends it once little else was read, and the reader waits
  after that.
- A wait of more than 24.8 days: Kafka's number overflows, so that some clients do not wait at all;
  the answer here is 24.8 days.
- `request_percentage` is of one processor, as there is one event loop; what Kafka's network threads
  need is charged as well there.

## New partitions on a full disk

Kafka's controller answers CreateTopics and CreatePartitions before any broker has made a log, and a
broker whose disk refuses takes the log directory offline. Here the answer waits for the logs: if
some could not be made, it is KAFKA_STORAGE_ERROR with their numbers, although the topic exists. A
full disk takes no directory offline; the partitions answer KAFKA_STORAGE_ERROR, and are made within
seconds once there is room. `preallocate` makes sparse files, as in Kafka: it reserves no room.

## Patterns

Patterns from clients are compiled by RE2, whose time is linear in the length of the text. Kafka
does the same for `SubscribedTopicRegex` and `TransactionalIdPattern`, but takes Java's patterns in
`match` of client metrics: there back references (`(a)\\1`), look-ahead and look-behind
(`(?=a)`, `(?<!a)`), possessive quantifiers (`a*+`) and atomic groups (`(?>a)`) are refused with
INVALID_CONFIG, and an intersection of classes (`[a-z&&[^b]]`) is none. A subscription stored
earlier with a pattern that is refused now applies to no client, and the log says so.

A pattern may have 4,096 characters (all those of one `match` together), 16 properties such as
`\\pL`, 64 counted repetitions such as `{2,5}`, and what it compiles to may take 64 KiB. A large
pattern cannot be compared with a long transactional id: their product is bounded. The answer is
INVALID_REGULAR_EXPRESSION, or INVALID_CONFIG, with the reason. Kafka has none of these bounds.

## Batches behind one that was refused

An idempotent producer has several batches under way. If one is refused for a moment (too few
replicas in sync, another leader, no room on the disk), and the next one arrives when the reason is
gone, Kafka answers it with OUT_OF_ORDER_SEQUENCE_NUMBER, or appends it if the partition does not
know the producer. librdkafka then begins a new epoch and sends again all that has no response yet:
where a response was lost, the log has the records twice. Here the answer is NOT_ENOUGH_REPLICAS
until the refused batch has been sent again, for at most five seconds: all clients repeat both.

## The next transaction while the last one ends

Markers are written after EndTxn is answered. AddPartitionsToTxn (up to version 3) and
AddOffsetsToTxn that arrive before their end wait for it, for at most
`add.partitions.to.txn.retry.backoff.max.ms`; Kafka answers CONCURRENT_TRANSACTIONS at once, and the
client retries after a pause. librdkafka 2.16 fails permanently, with INVALID_TXN_STATE, if its
application aborts during that pause (its issue 4849). One producer that commits and aborts
alternately, with three brokers: 72 of 246 aborts failed without this wait, 43 of 99 on Apache
Kafka 4.3.1, and none of 1,034 with it.

## Groups that change their protocol, and offsets of transactions

A classic group with members becomes a consumer group in one step. Here it does not if its members
and their topics are too many: 20,000 topics of all members together, and each member counts as 50.
The answer is GROUP_ID_NOT_FOUND with the reason, as where Kafka cannot convert a group; it can be
converted while it is empty. A consumer group whose last member of the new protocol leaves stays a
consumer group if more than 1,000 classic members are in it.

A transaction commits offsets of at most 2,000 topics (`ottla.transaction.offset.topics.max`) and
50,000 partitions (`ottla.transaction.offsets.max`) in one partition of `__consumer_offsets`. More
are refused with INVALID_COMMIT_OFFSET_SIZE.
"""


def current_page() -> str:
    one, three = (served_runs(all_runs(brokers)) for brokers in (1, CLUSTER))
    return (
        _HEADER.format(runs=scripts_count(one))
        + "".join(rows(ALLOWED, one))
        + _CLUSTER.format(runs=scripts_count(three))
        + "".join(rows(CLUSTER_ALLOWED, three))
        + _FOOTER
    )


def scripts_count(runs: Iterable[Run]) -> int:
    return len({run.script.name for run in runs})


def rows(allowed: Iterable[Allowed], runs: list[Run]) -> Iterator[str]:
    for entry in allowed:
        versions = shown_versions(entry.tried_versions(runs))
        cells = (APIS[entry.key].name, versions, cell(entry.case), cell(entry.field), entry.reason)
        yield f"| {' | '.join(cells)} |\n"


def cell(pattern: str) -> str:
    return ", ".join(f"`{each}`" for each in pattern.split("|") if each) or "the answer"
