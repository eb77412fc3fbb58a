"""Which tests go to the same worker of pytest-xdist: those of files that name the same group.

`--dist loadgroup` tells its scheduler about groups by changing test ids, and pytest 9.2 no longer
lets it: tests are then spread without a word, and every worker starts what one should start for
all. So the group is read from the file that a test id names: `xdist_group("...")` in a file holds
for all of its tests.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped, unused-ignore]

_GROUP = re.compile(r"""pytest\.mark\.xdist_group\(["']([\w-]+)["']\)""")


@cache
def group_of(path: Path) -> str | None:
    """The group that a test file names; None if it names none, or is no file."""
    try:
        found = _GROUP.search(path.read_text())
    except OSError:
        return None
    return found.group(1) if found else None


class GroupScheduling(LoadGroupScheduling):  # type: ignore[misc, unused-ignore]
    """Whole groups to one worker, all other tests one by one."""

    def _split_scope(self, nodeid: str) -> Any:
        path, _, _ = nodeid.partition("::")
        return group_of(self.config.rootpath / path) or super()._split_scope(nodeid)
