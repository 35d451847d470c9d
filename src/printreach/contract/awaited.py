"""Codes of the interface that nothing gives yet, and the part that will."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_DETECTION: Final = "failure detection"

AWAITED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "610": "a request that an older agent can't serve; so far there is one version of it",
        "611": "preview features",
        "OE_API_KEY_BLOCKED_PAYMENT_FAILED": f"billing of {_DETECTION}",
        "OE_API_KEY_DISABLED": _DETECTION,
        "OE_API_KEY_IP_RESTRICTED": _DETECTION,
        "OE_ARGS_PARSE_FAILED": _DETECTION,
        "OE_BACKEND_THROTTLED": _DETECTION,
        "OE_BAD_ARGS": _DETECTION,
        "OE_CONTEXT_NOT_FOUND": _DETECTION,
        "OE_CONTEXT_RATE_LIMITED": _DETECTION,
        "OE_FREE_USAGE_LIMIT_REACHED": f"billing of {_DETECTION}",
        "OE_IMAGE_DECODE_FAILED": _DETECTION,
        "OE_IMAGE_TOO_LARGE": _DETECTION,
        "OE_INTERNAL_ERROR": _DETECTION,
        "OE_INVALID_API_KEY": _DETECTION,
    }
)
"""A code leaves this table with the commit that gives it and the test that provokes it."""
