"""Server-side assignors of consumer groups, as pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ottla.coordinators.groups.assignors.division import Division, Subscriber
from ottla.coordinators.groups.assignors.range import divide_by_range
from ottla.coordinators.groups.assignors.uniform import divide_uniformly

# Arguments: subscribers by member id, and partition counts by topic id.
Assignor = Callable[[Mapping[str, Subscriber], Mapping[bytes, int]], Division]

ASSIGNORS: Mapping[str, Assignor] = {"uniform": divide_uniformly, "range": divide_by_range}
