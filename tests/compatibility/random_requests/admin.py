"""Random requests of administrators: topics, settings, the cluster, quotas, telemetry.

    python -m tests.compatibility.random_requests admin --seed 7 --sequences 200

A sequence is about one thing or about all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from tests.compatibility.random_requests import (
    admin_cluster,
    admin_configs,
    admin_quotas,
    admin_telemetry,
    admin_topics,
)
from tests.compatibility.random_requests.admin_allowed import ALLOWED
from tests.compatibility.random_requests.admin_model import AdminModel
from tests.compatibility.random_requests.request_sequence import Area

Drawn = dict[Callable[[Random], Any], int]  # how to draw a step, and how often
TOPICS, CONFIGS, CLUSTER = admin_topics.DRAWN, admin_configs.DRAWN, admin_cluster.DRAWN
QUOTAS, TELEMETRY = admin_quotas.DRAWN, admin_telemetry.DRAWN
METRICS: Drawn = {**TELEMETRY, admin_configs.draw_alter: 4, admin_configs.draw_list_resources: 1}
THEMES: tuple[Drawn, ...] = (
    TOPICS,
    {**TOPICS, **CONFIGS},
    CONFIGS,
    {**TOPICS, **CLUSTER},
    QUOTAS,
    METRICS,
    {**TOPICS, **CONFIGS, **CLUSTER, **QUOTAS, **TELEMETRY},
)


def draw(random: Random, count: int) -> Sequence[Any]:
    theme = random.choice(THEMES)
    chosen = random.choices(list(theme), list(theme.values()), k=count)
    first = [admin_topics.draw_create(random) for _ in range(2)] if theme is not QUOTAS else []
    return [*first, *(draw_step(random) for draw_step in chosen)]


AREA = Area("admin", draw, AdminModel, ALLOWED)
