"""UpdateFeatures (key 57), versions 0 to 2.

v1 kinds of downgrade, validate only · v2 one result for all features
"""

from __future__ import annotations

from ottla.controller.update_features import decide_update_features
from ottla.handlers.administration.deciding import decide
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.update_features_request import UpdateFeaturesRequest
from ottla.protocol.messages.update_features_response import UpdateFeaturesResponse


@handles(ApiKey.UPDATE_FEATURES)
async def update_features(
    request: UpdateFeaturesRequest, context: Context
) -> UpdateFeaturesResponse:
    return await decide(
        context, lambda state: decide_update_features(state, request, context.version)
    )
