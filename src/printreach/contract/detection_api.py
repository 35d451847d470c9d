"""Bodies of the failure-detection API. Wire names are the Pascal case of these."""

from typing import Annotated

from msgspec import Meta, Struct

ConfidenceLevel = Annotated[int, Meta(ge=1, le=5)]


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
