"""What becomes of partitions, said a second time: plain rules over whole clusters.

Each function takes the image before a decision and returns the partitions that it changes, by topic
and index. Slow and without care for how records are made: tests compare it with what the controller
decides, after any number of other steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ottla.metadata.entities import BrokerRegistration, PartitionRegistration
from ottla.metadata.image import Image

NO_LEADER = -1
RECOVERING = 1
UNKNOWN = bytes(16)
Place = tuple[str, int]
Expected = dict[Place, PartitionRegistration]


class Wish(NamedTuple):
    """A partition as it was requested, before a leader is elected."""

    place: Place
    old: PartitionRegistration
    new: PartitionRegistration
    election: str  # "online", "preferred" or "unclean"
    lost: frozenset[int] = frozenset()  # brokers that may have lost what they had


@dataclass
class Model:
    image: Image
    future: BrokerRegistration | None = None  # a broker as the decision under way makes it

    def broker(self, broker_id: int) -> BrokerRegistration | None:
        if self.future is not None and broker_id == self.future.id:
            return self.future
        return self.image.brokers.get(broker_id)

    def places(self) -> Iterator[tuple[Place, PartitionRegistration]]:
        for name, topic in self.image.topics.items():
            for index, partition in enumerate(topic.partitions):
                yield (name, index), partition

    # Settings

    def setting(self, topic: str, name: str, default: str) -> str:
        of_topic, of_cluster = self.image.topic_config(topic), self.image.broker_config(None)
        return of_topic.get(name) or of_cluster.get(name) or default

    def minimum(self, topic: str) -> int:
        replicas = self.image.topics[topic].partitions[0].replicas
        return min(int(self.setting(topic, "min.insync.replicas", "1")), len(replicas))

    def allows_unclean(self, topic: str) -> bool:
        return self.setting(topic, "unclean.leader.election.enable", "false") == "true"

    # One partition

    def can_lead(self, broker_id: int, partition: PartitionRegistration) -> bool:
        broker = self.broker(broker_id)
        if broker is None or broker.is_fenced or broker.is_shutting_down:
            return False
        directory = known_directories(partition).get(broker_id)
        return directory in (None, UNKNOWN, *broker.log_directories)

    def only_directory(self, broker_id: int) -> bytes:
        broker = self.image.brokers.get(broker_id)
        one = broker is not None and len(broker.log_directories) == 1
        return broker.log_directories[0] if broker is not None and one else UNKNOWN

    def directories(
        self, old: PartitionRegistration, replicas: tuple[int, ...], known: dict[int, bytes]
    ) -> tuple[bytes, ...]:
        if replicas == old.replicas and not known:
            return ()  # as an older version made it
        return tuple(known.get(each) or self.only_directory(each) for each in replicas)

    def outcome(self, wish: Wish) -> PartitionRegistration:
        old, new = wish.old, completed(wish.new)
        eligible: tuple[int, ...] = ()
        if len(new.in_sync_replicas) < self.minimum(wish.place[0]):
            complete = {*old.in_sync_replicas, *old.eligible_replicas} - wish.lost
            eligible = ordered(complete - {*new.in_sync_replicas}, new.replicas)
        leader, is_unclean = self.elected(wish, new, eligible)
        if is_unclean:
            new = new._replace(in_sync_replicas=(leader,), leader_recovery=RECOVERING)
            eligible = ()
        elif leader in eligible:
            new = new._replace(in_sync_replicas=(leader,))
            eligible = ordered({*eligible} - {leader}, eligible)
        last = old.leader if old.leader != NO_LEADER else old.last_known_leader
        new = new._replace(
            leader=leader,
            eligible_replicas=eligible,
            last_known_leader=last if leader == NO_LEADER else NO_LEADER,
            directories=self.directories(old, new.replicas, known_directories(wish.new)),
        )
        if is_unclean or leader != old.leader or {*old.replicas} - {*new.replicas}:
            new = new._replace(leader_epoch=old.leader_epoch + 1)
        return new if new == old else new._replace(partition_epoch=old.partition_epoch + 1)

    def elected(
        self, wish: Wish, new: PartitionRegistration, eligible: tuple[int, ...]
    ) -> tuple[int, bool]:
        directories = wish.new if wish.new.replicas == wish.old.replicas else wish.old
        complete = new.in_sync_replicas or eligible
        able = [each for each in new.replicas if self.can_lead(each, directories)]
        able_and_complete = [each for each in able if each in complete]
        if wish.election == "preferred" and new.replicas[0] in able_and_complete:
            return new.replicas[0], False
        if wish.old.leader in able_and_complete:
            return wish.old.leader, False
        if able_and_complete:
            return able_and_complete[0], False
        last = wish.old.leader if wish.old.leader != NO_LEADER else wish.old.last_known_leader
        if not complete and last in able:
            return last, True
        if wish.election == "unclean" and able:
            return able[0], True
        return NO_LEADER, False

    def settled(self, wishes: Iterable[Wish]) -> Expected:
        outcomes = {wish.place: (wish.old, self.outcome(wish)) for wish in wishes}
        return {place: new for place, (old, new) in outcomes.items() if new != old}

    def election_of(self, topic: str) -> str:
        return "unclean" if self.allows_unclean(topic) else "online"

    # Brokers

    def without(
        self,
        broker_id: int,
        concerned: Callable[[PartitionRegistration], bool],
        *,
        is_lost: bool = False,
    ) -> Iterator[Wish]:
        lost = frozenset({broker_id}) if is_lost else frozenset()
        for place, old in self.places():
            if concerned(old):
                left = tuple(each for each in old.in_sync_replicas if each != broker_id)
                new = old._replace(in_sync_replicas=left)
                yield Wish(place, old, new, self.election_of(place[0]), lost)

    def leaderless(self) -> Iterator[Wish]:
        for place, old in self.places():
            if old.leader == NO_LEADER:
                yield Wish(place, old, old, self.election_of(place[0]))

    def becomes(self, broker: BrokerRegistration) -> Model:
        return Model(self.image, broker)

    def after_fencing(self, broker: BrokerRegistration) -> Expected:
        future = self.becomes(replace(broker, is_fenced=True))
        return future.settled(future.without(broker.id, in_sync(broker.id)))

    def after_unfencing(self, broker: BrokerRegistration) -> Expected:
        future = self.becomes(replace(broker, is_fenced=False))
        return future.settled(future.leaderless())

    def after_shutdown(self, broker: BrokerRegistration) -> Expected:
        future = self.becomes(replace(broker, is_shutting_down=True))
        return future.settled(future.without(broker.id, in_sync(broker.id)))

    def after_unregistering(self, broker: BrokerRegistration) -> Expected:
        future = self.becomes(replace(broker, is_fenced=True))
        return future.settled(future.without(broker.id, complete(broker.id), is_lost=True))

    def after_losing(self, broker: BrokerRegistration, lost: Sequence[bytes]) -> Expected:
        left = tuple(each for each in broker.log_directories if each not in lost)
        future = self.becomes(replace(broker, log_directories=left))

        def is_concerned(old: PartitionRegistration) -> bool:
            if broker.id not in old.in_sync_replicas:
                return False
            return known_directories(old).get(broker.id) in lost

        return future.settled(future.without(broker.id, is_concerned))

    def after_registering(self, broker: BrokerRegistration, *, is_clean: bool) -> Expected:
        """A new incarnation, as it registers."""
        future = self.becomes(broker)
        is_up = not broker.is_fenced
        if is_clean and is_up:
            return future.settled(future.leaderless())

        def is_kept(old: PartitionRegistration) -> bool:
            return broker.has_directory(old.directory_of(broker.id))

        def is_dropped(old: PartitionRegistration) -> bool:
            return in_sync(broker.id)(old) and is_kept(old)

        def is_gone(old: PartitionRegistration) -> bool:
            return complete(broker.id)(old) and not is_kept(old)

        if is_clean:
            dropped = future.without(broker.id, is_dropped)
            gone = future.without(broker.id, is_gone, is_lost=True)
            return future.settled([*dropped, *gone])

        def is_concerned(old: PartitionRegistration) -> bool:
            return complete(broker.id)(old) or (is_up and old.leader == NO_LEADER)

        return future.settled(future.without(broker.id, is_concerned, is_lost=True))

    # Single partitions

    def after_altering(self, place: Place, members: Sequence[int], recovery: int) -> Expected:
        old = self.partition(place)
        new = old._replace(in_sync_replicas=tuple(members), leader_recovery=recovery)
        return self.settled([Wish(place, old, new, self.election_of(place[0]))])

    def after_moving(self, place: Place, replicas: Sequence[int]) -> Expected:
        old = self.partition(place)
        removing = tuple(sorted({*old.replicas} - {*replicas}))
        everyone = (*replicas, *removing)
        adding = tuple(sorted({*replicas} - {*old.replicas}))
        # What an earlier move adds or removes continues, as far as it is still wanted.
        still_adding = tuple(each for each in old.adding_replicas if each in replicas)
        still_removing = tuple(each for each in old.removing_replicas if each not in replicas)
        new = old._replace(
            replicas=everyone,
            removing_replicas=removing or still_removing,
            adding_replicas=adding or still_adding,
            directories=self.directories(old, everyone, known_directories(old)),
        )
        return self.settled([Wish(place, old, new, "online")])

    def after_cancelling(self, place: Place) -> Expected | None:
        """None where that is refused."""
        old = self.partition(place)
        if not (old.adding_replicas or old.removing_replicas):
            return None
        replicas = tuple(each for each in old.replicas if each not in old.adding_replicas)
        members = tuple(each for each in old.in_sync_replicas if each in replicas)
        if not members and not self.allows_unclean(place[0]):
            return None
        new = old._replace(
            replicas=replicas,
            in_sync_replicas=members or replicas[:1],
            adding_replicas=(),
            removing_replicas=(),
            directories=self.directories(old, replicas, known_directories(old)),
        )
        return self.settled([Wish(place, old, new, self.election_of(place[0]))])

    def after_assigning(
        self, place: Place, broker: BrokerRegistration, directory: bytes
    ) -> Expected:
        old = self.partition(place)
        known = known_directories(old) | {broker.id: directory}
        new = old._replace(directories=self.directories(old, old.replicas, known))
        if directory not in (UNKNOWN, *broker.log_directories):
            left = tuple(each for each in old.in_sync_replicas if each != broker.id)
            new = new._replace(in_sync_replicas=left)
        return self.settled([Wish(place, old, new, self.election_of(place[0]))])

    def after_electing(self, place: Place, election: str) -> Expected | None:
        """None where no election is needed."""
        old = self.partition(place)
        is_fine = (
            old.leader == old.replicas[0] if election == "preferred" else old.leader != NO_LEADER
        )
        return None if is_fine else self.settled([Wish(place, old, old, election)])

    def after_balancing(self) -> Expected:
        found: Expected = {}
        for place, _ in self.places():
            found |= self.after_electing(place, "preferred") or {}
        return found

    def after_unclean_elections(self) -> Expected:
        found: Expected = {}
        for place, _ in self.places():
            if self.allows_unclean(place[0]):
                found |= self.after_electing(place, "unclean") or {}
        return found

    def after_new_minimum(self, topics: Iterable[str]) -> Expected:
        return {
            place: old._replace(eligible_replicas=(), partition_epoch=old.partition_epoch + 1)
            for place, old in self.places()
            if place[0] in topics and old.eligible_replicas
        }

    def partition(self, place: Place) -> PartitionRegistration:
        return self.image.topics[place[0]].partitions[place[1]]


def completed(new: PartitionRegistration) -> PartitionRegistration:
    """A move is over once all new replicas are in sync, and one that stays; with fewer replicas
    than before, once all that stay are."""
    if not (new.adding_replicas or new.removing_replicas):
        return new
    stay = tuple(each for each in new.replicas if each not in new.removing_replicas)
    members = tuple(each for each in new.in_sync_replicas if each in stay)
    shrinks = len(new.removing_replicas) > len(new.adding_replicas)
    waits_for = {*stay} if shrinks else {*new.adding_replicas}
    if waits_for - {*members} or not stay or (new.removing_replicas and not members):
        return new
    return new._replace(
        replicas=stay, in_sync_replicas=members, adding_replicas=(), removing_replicas=()
    )


def known_directories(partition: PartitionRegistration) -> dict[int, bytes]:
    return dict(zip(partition.replicas, partition.directories, strict=bool(partition.directories)))


def in_sync(broker_id: int) -> Callable[[PartitionRegistration], bool]:
    return lambda old: broker_id in old.in_sync_replicas


def complete(broker_id: int) -> Callable[[PartitionRegistration], bool]:
    return lambda old: broker_id in (*old.in_sync_replicas, *old.eligible_replicas)


def ordered(wanted: set[int], like: Iterable[int]) -> tuple[int, ...]:
    return tuple(each for each in like if each in wanted)
