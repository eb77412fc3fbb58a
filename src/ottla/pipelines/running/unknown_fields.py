"""Fields of JSON values that the declared schema does not have.

They are not written, and a column that producers added would be missed silently. Counted in
a sample: the first thousand values of each Arrow batch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import orjson
import pyarrow as pa

SAMPLE = 1000


def unknown_fields(values: pa.Array, known: Collection[str]) -> Counter[str]:
    """How often each unknown field is in the sample."""
    found: Counter[str] = Counter()
    for text in values.slice(0, SAMPLE).to_pylist():
        try:
            value = orjson.loads(text) if text is not None else None
        except orjson.JSONDecodeError:
            continue  # it is bad, and counted as that
        if isinstance(value, dict):
            found.update(value.keys() - known)
    return found
