"""The controller of a broker without a cluster: there is no other, and so no election.

Promises  after a failed append the controller continues from what is in the log. If that is less
          than was published, or cannot be read, `run_alone` ends with MetadataLost.
"""

from __future__ import annotations

from ottla.controller.controller import Controller, Resigned
from ottla.metadata.continuity import KnownState, load_known
from ottla.metadata.log import MetadataLog
from ottla.metadata.publisher import Publisher


async def run_alone(controller: Controller, log: MetadataLog, publisher: Publisher) -> None:
    """Run a controller that is active, until cancelled."""
    while True:
        try:
            await controller.run()
        except Resigned:
            image = await load_known(log, KnownState.of(publisher.image))
            publisher.replace(image.copy())
            controller.activate(image, controller.epoch + 1)
