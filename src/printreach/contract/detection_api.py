"""The failure-detection API: its errors with their HTTP status, and its bodies.

Wire names of the bodies are the Pascal case of these.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Final

from msgspec import Meta, Struct

ConfidenceLevel = Annotated[int, Meta(ge=1, le=5)]


class DetectionError(StrEnum):
    """The `ErrorType` of an answer that is not 200."""

    BAD_ARGS = "OE_BAD_ARGS"
    ARGS_PARSE_FAILED = "OE_ARGS_PARSE_FAILED"
    IMAGE_DECODE_FAILED = "OE_IMAGE_DECODE_FAILED"
    INVALID_API_KEY = "OE_INVALID_API_KEY"
    API_KEY_DISABLED = "OE_API_KEY_DISABLED"
    API_KEY_BLOCKED_PAYMENT_FAILED = "OE_API_KEY_BLOCKED_PAYMENT_FAILED"
    IMAGE_TOO_LARGE = "OE_IMAGE_TOO_LARGE"
    API_KEY_IP_RESTRICTED = "OE_API_KEY_IP_RESTRICTED"
    FREE_USAGE_LIMIT_REACHED = "OE_FREE_USAGE_LIMIT_REACHED"
    CONTEXT_RATE_LIMITED = "OE_CONTEXT_RATE_LIMITED"
    CONTEXT_NOT_FOUND = "OE_CONTEXT_NOT_FOUND"
    BACKEND_THROTTLED = "OE_BACKEND_THROTTLED"
    INTERNAL_ERROR = "OE_INTERNAL_ERROR"


HTTP_STATUSES: Final[Mapping[DetectionError, int]] = MappingProxyType(
    {
        DetectionError.BAD_ARGS: 400,
        DetectionError.ARGS_PARSE_FAILED: 400,
        DetectionError.IMAGE_DECODE_FAILED: 400,
        DetectionError.INVALID_API_KEY: 401,
        DetectionError.API_KEY_BLOCKED_PAYMENT_FAILED: 402,
        DetectionError.API_KEY_DISABLED: 403,
        DetectionError.API_KEY_IP_RESTRICTED: 403,
        DetectionError.CONTEXT_NOT_FOUND: 404,
        DetectionError.IMAGE_TOO_LARGE: 413,
        DetectionError.FREE_USAGE_LIMIT_REACHED: 429,
        DetectionError.CONTEXT_RATE_LIMITED: 429,
        DetectionError.INTERNAL_ERROR: 500,
        DetectionError.BACKEND_THROTTLED: 503,
    }
)

_AGAIN: Final = "after `Retry-After`, send it again"

REMEDIES: Final[Mapping[DetectionError, tuple[str, str]]] = MappingProxyType(
    {
        DetectionError.BAD_ARGS: (
            "A field has the wrong type or lies out of range, or the form holds no file or several",
            "mend the request; `ErrorDetails` names the field",
        ),
        DetectionError.ARGS_PARSE_FAILED: (
            "The body is no JSON, or no multipart form, or did not come whole and in time",
            "mend the request",
        ),
        DetectionError.IMAGE_DECODE_FAILED: (
            "The image is truncated, corrupt, of more than 50 megapixels, or no JPEG, PNG or WebP",
            "take another picture",
        ),
        DetectionError.INVALID_API_KEY: (
            "`X-API-Key` is missing, or holds no key of this service",
            "stop until the key is put right",
        ),
        DetectionError.API_KEY_BLOCKED_PAYMENT_FAILED: (
            "A payment of the key's account failed",
            "stop until its owner has settled it",
        ),
        DetectionError.API_KEY_DISABLED: (
            "The key was disabled, or its account was blocked",
            "stop until there is another key",
        ),
        DetectionError.API_KEY_IP_RESTRICTED: (
            "A key of another account claimed the address of the call",
            "stop; don't use the fallback URL",
        ),
        DetectionError.CONTEXT_NOT_FOUND: (
            "The context is unknown, another key's, or older than 14 days",
            "make a new one",
        ),
        DetectionError.IMAGE_TOO_LARGE: (
            "The image has more than 6,291,456 bytes",
            "send a smaller one",
        ),
        DetectionError.FREE_USAGE_LIMIT_REACHED: (
            "The free calls of this month are used up, and the account doesn't pay for more",
            "stop until the next month, or until its owner changes that",
        ),
        DetectionError.CONTEXT_RATE_LIMITED: (
            "The image came sooner than `Minimum` after the last one of its context, or its account"
            " asks too often",
            _AGAIN,
        ),
        DetectionError.INTERNAL_ERROR: ("The service failed", "try again in a moment"),
        DetectionError.BACKEND_THROTTLED: ("More images come than can be looked at", _AGAIN),
    }
)
"""The meaning of each error, and what a program should do about it."""


class ContextWish(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The settings of a new context. Lower levels suggest sooner; null means the default, 3."""

    warning_confidence_level: ConfidenceLevel | None = None
    pause_confidence_level: ConfidenceLevel | None = None


class CreatedContext(Struct, frozen=True, kw_only=True, rename="pascal"):
    """A context. Both URLs hold its id, and are used as they are."""

    context_id: str
    process_request_url: str
    fallback_process_request_url: str


class NextInterval(Struct, frozen=True, kw_only=True, rename="pascal"):
    """Seconds until the next image: at least, and as recommended."""

    minimum: int
    recommended: int


class InspectionResult(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The verdict on a print. print_quality: 1 to 10, 10 is best; score: 0 to 100, 0 is best."""

    next_process_interval_sec: NextInterval
    faster_inspection_suggested: bool
    print_quality: int
    warning_suggested: bool
    pause_suggested: bool
    score: int


class DetectionProblem(Struct, frozen=True, kw_only=True, rename="pascal"):
    """The body of every answer that is not 200."""

    error_type: str
    error_details: str
