"""The App APIs of webhooks. Wire names are the Pascal case of these."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from printreach.contract.app_answers import TokenBody

MAX_FILTER_LENGTH = 256

EventNumber = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
"""Numbers of later versions are kept; 64 bits are what JSON libraries agree on."""


class SetWebhook(TokenBody, frozen=True, kw_only=True, rename="pascal"):
    """A webhook that is set. inclusive_event_types_filter: empty, null or left out wants all."""

    webhook_url: str
    inclusive_event_types_filter: (
        Annotated[list[EventNumber], Meta(max_length=MAX_FILTER_LENGTH)] | None
    ) = None


class WebhookTried(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The outcome of a call. http_status: null where there was no answer; error then says why."""

    http_status: int | None
    duration_ms: int
    error: str | UnsetType = UNSET


class WebhookKey(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A key by which messages are verified.

    public_key: 32 bytes of Ed25519, in base64. not_after: from then on nothing is signed with it;
    null of the newest.
    """

    key_id: str
    public_key: str
    not_after: datetime | None


class WebhookKeyList(Struct, frozen=True, kw_only=True, rename="pascal"):
    """All valid keys, the newest first."""

    keys: list[WebhookKey]
