"""`transaction.partition.verification.enable`, which may be changed while brokers run.

Owns      carrying the value to those who go by it: the verifier that asks coordinators, and the
          logs that refuse transactional records nobody has asked about.
"""

from __future__ import annotations

from ottla.broker.effective_config import is_of_broker
from ottla.config.kinds import BOOLEAN
from ottla.config.layers import BrokerLayers
from ottla.coordinators.transactions.verifying import Verifier
from ottla.metadata.changes import Changes
from ottla.metadata.image import Image
from ottla.storage.directories.log_manager import LogManager

NAME = "transaction.partition.verification.enable"


class VerificationSetting:
    def __init__(
        self, broker_id: int, static: BrokerLayers, logs: LogManager, verifier: Verifier
    ) -> None:
        self._broker_id = broker_id
        self._static = static
        self._logs = logs
        self._verifier = verifier

    def load(self, image: Image) -> None:
        layers = self._static.with_dynamic(
            image.broker_config(self._broker_id), image.broker_config(None)
        )
        is_enabled = BOOLEAN.parse(layers.effective()[NAME])
        self._verifier.is_enabled = is_enabled
        for directory in self._logs.directories:
            directory.context.has_verification = is_enabled

    def changed(self, image: Image, changes: Changes) -> None:
        if is_of_broker(changes, self._broker_id):
            self.load(image)
