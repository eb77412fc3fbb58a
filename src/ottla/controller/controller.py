"""The controller: decides events in order, appends the records, and then answers.

Owns      the image that decisions are based on. It is ahead of the published image by the batch
          that is being appended, so that an event sees the effects of earlier ones. Once the batch
          is durable, the two images are swapped, and the batch is applied to the other one. Both
          times the image has no other reader, so that a large batch can be applied in a thread.
Promises  events are decided in order of arrival. Events that arrive during an append share the next
          batch. An answer is returned once its records are durable and in the published image. An
          answer without records, as that a topic does not exist, is returned to clients once the
          log has confirmed that no other controller was elected: its image may be newer. If an
          append fails, or a decision has a bug, all waiting events fail with NOT_CONTROLLER and
          `run` raises Resigned: the log is authoritative, and must be loaded again.
Leaves    the decisions to the `decide_*` functions; the election of the controller, and what
          follows Resigned, to `sole_controller.py` and `controller_election.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from ottla.base.log_messages.sparse_log import SparseLog
from ottla.base.scheduling.tasks import next_iteration
from ottla.base.scheduling.threads import Threads
from ottla.config.broker_options import BrokerConfig
from ottla.config.layers import BrokerLayers
from ottla.controller.decision import Decision
from ottla.controller.state import ControllerState, RandomSource
from ottla.metadata.changes import Changes
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import (
    AppendDenied,
    AppendFailed,
    AppendRefused,
    MetadataLog,
    MetadataLogFull,
    MetadataLost,
)
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import Record
from ottla.metadata.topic_table import ImageError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

T = TypeVar("T")
log = logging.getLogger(__name__)
EVENTS_MAX = 1000  # in the queue; further ones wait for space
FINISHING_S = 2.0  # for an append whose controller is cancelled
BATCH_RECORDS_MAX = 2000  # no event is added to a larger batch
DECIDED_AT_ONCE = 4  # events in an iteration of the event loop: each may take a millisecond
ANSWERED_AT_ONCE = 32  # the same of answers, which their requests then encode


class Resigned(Exception):
    """The controller decides nothing more, until it is activated with what is in the log."""


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """Settings of the broker that the controller uses."""

    node_id: int
    config: BrokerConfig
    layers: BrokerLayers
    rng: RandomSource
    new_uuid: Callable[[], bytes]


@dataclass(slots=True)
class _Event(Generic[T]):
    decide: Callable[[ControllerState], Decision[T]]
    answered: asyncio.Future[T]
    is_large: bool = False
    is_confirmed: bool = False


@dataclass(slots=True)
class _Round:
    """Events whose records are appended together, with their answers."""

    events: int = 0
    records: list[Record] = field(default_factory=list)
    changes: Changes = field(default_factory=Changes)
    answers: list[tuple[asyncio.Future[Any], Any]] = field(default_factory=list)
    errors: list[tuple[asyncio.Future[Any], Exception]] = field(default_factory=list)
    is_confirmed: bool = False  # whether an event of it needs that

    def outcomes(self) -> Iterator[Callable[[], None]]:
        """What answers each event."""
        for answered, answer in self.answers:
            yield partial(_answer, answered, answer)
        yield from self._errors()

    def refusals(self, error: BrokerError) -> Iterator[Callable[[], None]]:
        """Nothing was appended. Events that have failed before that get their own error."""
        for answered, _ in self.answers:
            yield partial(_fail, answered, error)
        yield from self._errors()

    def give_up(self) -> None:
        for answered, _ in (*self.answers, *self.errors):
            _give_up(answered)

    def _errors(self) -> Iterator[Callable[[], None]]:
        for answered, error in self.errors:
            yield partial(_fail, answered, error)


class Controller:
    def __init__(
        self, log: MetadataLog, publisher: Publisher, settings: ControllerSettings, threads: Threads
    ) -> None:
        self._log = log
        self._publisher = publisher
        self._settings = settings
        self._threads = threads
        self._events: asyncio.Queue[_Event[Any]] = asyncio.Queue(EVENTS_MAX)
        self._image: Image | None = None  # None while this broker is not the controller
        self._denied_log = SparseLog(logging.getLogger(__name__), logging.WARNING)
        self._epoch = 0

    @property
    def is_active(self) -> bool:
        return self._image is not None

    @property
    def config(self) -> BrokerConfig:
        return self._settings.config

    @property
    def epoch(self) -> int:
        return self._epoch

    async def decide(
        self,
        decide: Callable[[ControllerState], Decision[T]],
        *,
        is_large: bool = False,
        is_confirmed: bool = False,
    ) -> T:
        """The answer to an event, once its records are durable. BrokerError if that fails.

        A large event is decided in a thread: the image has no other user. Without records the
        answer of a confirmed event waits until the log says that this is still the controller.
        """
        if not self.is_active:
            raise _not_controller()
        answered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        await self._events.put(_Event(decide, answered, is_large, is_confirmed))
        if not self.is_active:  # it resigned while the queue was full
            _give_up(answered)
        return await answered

    def activate(self, image: Image, epoch: int) -> None:
        """Become the controller. `image` is the state of the log; the controller takes ownership
        of it."""
        self._image = image
        self._epoch = epoch

    async def run(self) -> None:
        """Decide events until cancelled. Resigned if the end of the log is not known any more."""
        try:
            while True:
                # Not a local variable, which would keep a large request and its answer until the
                # next event, and then free them at once.
                await self._decide_round(await self._events.get())
        finally:
            self._resign()

    async def _decide_round(self, first: _Event[Any]) -> None:
        round_ = _Round()
        try:
            event: _Event[Any] | None = first
            while event is not None:
                await self._decide_one(event, round_)
                round_.events += 1
                if not round_.events % DECIDED_AT_ONCE:
                    await next_iteration()
                event = self._next_waiting(round_)
            await self._append(round_)
        except AppendDenied as error:
            now_s = asyncio.get_running_loop().time()
            self._denied_log.write(now_s, "a change of the metadata cannot be stored: %s", error)
            why = "The disk is full" if isinstance(error, MetadataLogFull) else "Not stored"
            refusal = BrokerError(ErrorCode.KAFKA_STORAGE_ERROR, f"{why}: {error}")
            await in_parts(round_.refusals(refusal))
            await self._go_back()
        except Exception as error:
            is_known = isinstance(error, (AppendFailed, AppendRefused, ImageError, MetadataLost))
            bug = None if is_known else error
            log.error("resigning, to load the metadata log again: %s", error, exc_info=bug)
            round_.give_up()
            self._resign()
            raise Resigned(str(error)) from error
        except BaseException:
            round_.give_up()
            raise

    async def _decide_one(self, event: _Event[Any], round_: _Round) -> None:
        """An exception of one event is its answer; the other events of the round are not
        affected."""
        image = self._image
        if image is None:
            _give_up(event.answered)
            return
        if event.answered.done():
            return  # cancelled or already failed, before anything was decided
        state = self._state(image)
        round_.is_confirmed |= event.is_confirmed
        try:
            if event.is_large:
                decision = await self._threads.run(partial(event.decide, state))
            else:
                decision = event.decide(state)
        except Exception as error:
            round_.errors.append((event.answered, error))
            return
        round_.answers.append((event.answered, decision.answer))
        if decision.records:
            await self._apply(image, decision.records, round_.changes)
            round_.records += decision.records

    async def _apply(
        self, image: Image, records: Sequence[Record], changes: Changes | None = None
    ) -> None:
        batch = Batch(image.offset, self._epoch, tuple(records))
        if image.is_long(records):
            await self._threads.run(partial(image.apply, batch, changes))
        else:
            image.apply(batch, changes)

    def _next_waiting(self, round_: _Round) -> _Event[Any] | None:
        is_full = round_.events >= EVENTS_MAX or len(round_.records) >= BATCH_RECORDS_MAX
        if is_full or self._events.empty():
            return None
        return self._events.get_nowait()

    async def _append(self, round_: _Round) -> None:
        image, is_cancelled = self._image, False
        if round_.records and image is not None:
            batch = Batch(self._log.end_offset, self._epoch, tuple(round_.records))
            is_cancelled = await self._append_to_end(batch)
            await self._publisher.exchange(image, round_.changes)
        elif round_.is_confirmed:
            await self._log.confirm()
        await in_parts(round_.outcomes())
        if is_cancelled:
            raise asyncio.CancelledError
        if round_.records and image is not None and image.offset < self._log.end_offset:
            await self._apply(image, round_.records)
        if self._log.wants_snapshot and self._image is not None:
            await self._write_snapshot(self._image)

    async def _append_to_end(self, batch: Batch) -> bool:
        """Append, and return whether the controller was cancelled meanwhile. Then the batch may be
        durable: without its outcome, the events could only be decided again."""
        appending = asyncio.ensure_future(self._log.append(batch))
        try:
            await asyncio.shield(appending)
        except asyncio.CancelledError:
            await asyncio.wait([appending], timeout=FINISHING_S)
            if not appending.done():
                appending.cancel()
                raise
            if appending.cancelled() or appending.exception() is not None:
                raise
            return True
        return False

    async def _write_snapshot(self, image: Image) -> None:
        try:
            await self._log.write_snapshot(image)
        except (AppendFailed, MetadataLost):
            raise
        except OSError as error:
            log.warning("no new snapshot of the metadata log: %s", error)
        except Exception:
            log.exception("bug while writing a snapshot of the metadata log")

    def _state(self, image: Image) -> ControllerState:
        settings = self._settings
        return ControllerState(
            image,
            settings.node_id,
            settings.config,
            settings.layers,
            settings.rng,
            settings.new_uuid,
        )

    def _resign(self) -> None:
        """Stop deciding. Events that were not decided can be sent to another controller."""
        self._image = None
        while not self._events.empty():
            _give_up(self._events.get_nowait().answered)

    async def _go_back(self) -> None:
        """Discard what was decided but not appended."""
        self._image = await self._threads.run(self._publisher.image.copy)


async def in_parts(calls: Iterable[Callable[[], None]]) -> None:
    """Make some of the calls in each iteration of the event loop; all of them, if cancelled."""
    left = deque(calls)
    try:
        while left:
            for _ in range(min(ANSWERED_AT_ONCE, len(left))):
                left.popleft()()
            if left:
                await next_iteration()
    finally:
        while left:
            left.popleft()()


def _answer(answered: asyncio.Future[Any], answer: Any) -> None:
    if not answered.done():
        answered.set_result(answer)


def _fail(answered: asyncio.Future[Any], error: Exception) -> None:
    if not answered.done():
        answered.set_exception(error)


def _give_up(answered: asyncio.Future[Any]) -> None:
    _fail(answered, _not_controller())


def _not_controller() -> BrokerError:
    what = "This is not the correct controller for this cluster."
    return BrokerError(ErrorCode.NOT_CONTROLLER, what)
