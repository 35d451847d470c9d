"""Why a failure-detection call is refused: the well-known types, and the HTTP status of each."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


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
