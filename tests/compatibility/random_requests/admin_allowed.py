"""Differences that requests of administrators may show, besides those of the differential test."""

from __future__ import annotations

from tests.compatibility.differential.allowed import Allowed

from ottla.protocol.api_keys import ApiKey

ALLOWED = (
    *(
        Allowed(
            key, "*'log.flush.interval.ms', *'-*", "*error_code",
            "What no topic may have cannot be the default of all of them; Kafka takes it, and"
            " cannot read the settings of any topic after that.",
        )
        for key in (ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS)
    ),
)  # fmt: skip
