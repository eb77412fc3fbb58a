"""A second run of a pipeline ends the first, never itself."""

from __future__ import annotations

import pytest

from ottla.client.settings import ClientSettings
from ottla.pipelines.errors import FencedOut
from ottla.pipelines.running.fence import Fence
from ottla.testing import Kafka


def test_the_first_of_two_runs_is_fenced_out_for_good(kafka: Kafka) -> None:
    settings, name = ClientSettings(kafka.bootstrap_servers), kafka.name("orders_lake")
    first, second = Fence(settings, name), Fence(settings, name)
    first.take()
    first.check()
    second.take()
    for _ in range(2):
        with pytest.raises(FencedOut, match=f"{name}: another run of this pipeline has started"):
            first.check()
        second.check()


def test_pipelines_of_other_names_run_side_by_side(kafka: Kafka) -> None:
    settings = ClientSettings(kafka.bootstrap_servers)
    both = [Fence(settings, kafka.name(name)) for name in ("orders_lake", "bills_lake")]
    for fence in both:
        fence.take()
    for fence in both:
        fence.check()
