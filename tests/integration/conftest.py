"""What several folders of tests share: one cluster of three brokers in each process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.client.three_brokers import ThreeBrokers, three_of_ottla


@pytest.fixture(scope="session")
def three_ottla() -> Iterator[ThreeBrokers]:
    with three_of_ottla() as brokers:
        yield brokers
