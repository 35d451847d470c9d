"""The failure-detection API: `createcontext` for each print, `process` for each image of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from litestar import post
from litestar.di import NamedDependency, Provide
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import OpenAPIMediaType, Operation, Parameter, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType
from litestar.params import FromPath, HeaderParameter

from printreach.contract.codec import BadArguments, decode_arguments
from printreach.contract.detection_api import (
    HTTP_STATUSES,
    ContextWish,
    CreatedContext,
    DetectionError,
    DetectionProblem,
    InspectionResult,
    NextInterval,
)
from printreach.hub.detection import BUSY_RETRY_S, Call, Detection
from printreach.limiters.fair_semaphore import TooBusy
from printreach.rules.detection import DEFAULT_LEVEL, LEVELS, MAX_IMAGE_BYTES, Verdict
from printreach.rules.detection.access import CallKind, CallRefused
from printreach.rules.detection.contexts import RetryLater
from printreach.web.detection.image_body import read_image
from printreach.web.detection.problems import (
    DETECTION_PATH,
    DetectionRefused,
    answer_detection_failure,
)
from printreach.web.disconnects import CallerDisconnected, while_connected
from printreach.web.problems import AnyRequest
from printreach.web.requests import (
    ENCODED_JSON,
    IMAGE_TIMEOUT_S,
    LARGEST_BODY,
    BodyLimiter,
    TooManyBodies,
    TooSlow,
    body_limiters_of,
    is_encoded,
    note_caller,
)
from printreach.web.routing import DeclaredRouter
from printreach.web.security import KEYED
from printreach.web.services import Services
from printreach.web.signed_in import UNPROVEN

API_KEY: Final = "X-API-Key"

_TOO_MANY: Final = RetryLater(
    DetectionError.BACKEND_THROTTLED,
    "More images are on their way than can be taken.",
    BUSY_RETRY_S,
)
_TOO_SLOW: Final = CallRefused(
    DetectionError.ARGS_PARSE_FAILED, f"The image did not come within {IMAGE_TIMEOUT_S:g} seconds."
)

_ENCODED: Final = CallRefused(DetectionError.ARGS_PARSE_FAILED, ENCODED_JSON)
_NO_JSON: Final = CallRefused(
    DetectionError.ARGS_PARSE_FAILED,
    f"The body has to be a JSON object of at most {LARGEST_BODY} bytes.",
)

_LEFT: Final = CallRefused(DetectionError.ARGS_PARSE_FAILED, "The caller left.")

_FIELD: Final = re.compile(r"`\$\.(\w+)`$")

ApiKey = Annotated[str, HeaderParameter(name=API_KEY, description="A key from the developer page.")]


@dataclass
class _Keyed(Operation):
    """Documents that the key is required. A call without one gets the API's own refusal.

    It is no parameter here: programs that read the document keep it with their credentials.
    """

    def __post_init__(self) -> None:
        self.security = [{API_KEY: []}]
        self.parameters = [
            parameter
            for parameter in self.parameters or []
            if not (isinstance(parameter, Parameter) and parameter.name == API_KEY)
        ]


@dataclass
class _TakesLevels(_Keyed):
    """Documents the body, which the handler parses itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        level = Schema(
            type=[OpenAPIType.INTEGER, OpenAPIType.NULL],
            minimum=LEVELS[0],
            maximum=LEVELS[-1],
            default=DEFAULT_LEVEL,
        )
        wish = Schema(
            type=OpenAPIType.OBJECT,
            properties={"WarningConfidenceLevel": level, "PauseConfidenceLevel": level},
        )
        self.request_body = RequestBody({"application/json": OpenAPIMediaType(schema=wish)})


@dataclass
class _TakesImage(_Keyed):
    """Documents the form with the image."""

    def __post_init__(self) -> None:
        super().__post_init__()
        form = Schema(
            type=OpenAPIType.OBJECT,
            description="One file; its field may have any name.",
            properties={
                "image": Schema(
                    type=OpenAPIType.STRING,
                    format=OpenAPIFormat.BINARY,
                    description="JPEG, PNG or WebP",
                    max_length=MAX_IMAGE_BYTES,
                )
            },
        )
        self.request_body = RequestBody(
            {"multipart/form-data": OpenAPIMediaType(schema=form)}, required=True
        )


def _failures() -> Mapping[int, ResponseSpec]:
    return {
        status: ResponseSpec(
            DetectionProblem,
            # Examples would be random, and the document would differ each time it is written.
            generate_examples=False,
            description=" · ".join(
                error for error, its_status in HTTP_STATUSES.items() if its_status == status
            ),
        )
        for status in sorted(set(HTTP_STATUSES.values()))
    }


@dataclass(frozen=True, slots=True)
class DetectionRequest:
    """One call of the API, the use case that answers it, and the limiter of image bodies.

    It is a single dependency, since Litestar starts a task for each of several independent ones.
    """

    call: Call
    detection: Detection
    limiter: BodyLimiter


@post("/createcontext", status_code=200, operation_class=_TakesLevels, responses=_failures())
async def create_context(
    request: AnyRequest, detection_request: NamedDependency[DetectionRequest]
) -> CreatedContext:
    """Begin a print: one context for all its images. Costs nothing."""
    admitted = await detection_request.detection.admit(
        detection_request.call, CallKind.CREATE_CONTEXT
    )
    if isinstance(admitted, CallRefused):
        raise DetectionRefused(admitted)
    note_caller(request, admitted.key.account_id, "detection")
    wish = await _wish(request)
    made = await detection_request.detection.make_context(
        admitted, wish.warning_confidence_level, wish.pause_confidence_level
    )
    return CreatedContext(
        context_id=made.context_id,
        process_request_url=made.process_url,
        fallback_process_request_url=made.fallback_url,
    )


@post(
    "/process/{context_id:str}",
    status_code=200,
    operation_class=_TakesImage,
    responses=_failures(),
    request_max_body_size=None,  # read_image() enforces the limits
)
async def process(
    request: AnyRequest,
    context_id: FromPath[str],
    detection_request: NamedDependency[DetectionRequest],
) -> InspectionResult:
    """Look at the next image of a print. Each answer of 200 counts as one call."""
    awaited = await detection_request.detection.await_image(detection_request.call, context_id)
    if isinstance(awaited, CallRefused):
        raise DetectionRefused(awaited)
    try:
        with detection_request.limiter.admit(awaited.account_id) as body:
            picture = await read_image(request, body)
            # After the caller has left, scoring is abandoned and not counted.
            looking = detection_request.detection.look(awaited, picture)
            verdict = await while_connected(request, looking)
    except TooManyBodies:
        raise DetectionRefused(_TOO_MANY) from None
    except TooSlow:
        raise DetectionRefused(_TOO_SLOW) from None
    except CallerDisconnected:
        raise DetectionRefused(_LEFT) from None
    if isinstance(verdict, CallRefused):
        raise DetectionRefused(verdict)
    return _inspected(verdict)


def _address_of(request: AnyRequest) -> str:
    """Return the caller's address as the relay passes it on; empty if unknown."""
    return request.client.host if request.client is not None else ""


async def _wish(request: AnyRequest) -> ContextWish:
    """Parse the body; an empty one sets nothing. Raises DetectionRefused."""
    if is_encoded(request):
        raise DetectionRefused(_ENCODED)
    try:
        return decode_arguments(await request.body(), ContextWish)
    except BadArguments as error:
        if isinstance(error.__cause__, msgspec.ValidationError):
            refused = CallRefused(DetectionError.BAD_ARGS, _wrong(error.__cause__))
            raise DetectionRefused(refused) from None
        raise DetectionRefused(_NO_JSON) from None
    except RequestEntityTooLarge:
        raise DetectionRefused(_NO_JSON) from None
    except TooBusy:
        raise DetectionRefused(_TOO_MANY) from None


def _wrong(error: msgspec.ValidationError) -> str:
    """Say which field is wrong. msgspec's message ends in its path, `$.Name`, if there is one."""
    named = _FIELD.search(str(error))
    if named is None:
        return "The body has to be a JSON object."
    return f"{named[1]} has to be a whole number, {LEVELS[0]} to {LEVELS[-1]}."


def _inspected(verdict: Verdict) -> InspectionResult:
    return InspectionResult(
        next_process_interval_sec=NextInterval(
            minimum=verdict.minimum_interval_s, recommended=verdict.recommended_interval_s
        ),
        faster_inspection_suggested=verdict.faster_inspection_suggested,
        print_quality=verdict.print_quality,
        warning_suggested=verdict.warning_suggested,
        pause_suggested=verdict.pause_suggested,
        score=verdict.score,
    )


def provide_detection_request(
    request: AnyRequest, services: NamedDependency[Services], api_key: ApiKey = ""
) -> DetectionRequest:
    call = Call(
        api_key=api_key,
        address=_address_of(request),
        is_address_proven=UNPROVEN not in request.headers,
    )
    return DetectionRequest(call, services.detection, body_limiters_of(request).of_images)


DETECTION_API = DeclaredRouter(
    DETECTION_PATH,
    route_handlers=[create_context, process],
    dependencies={"detection_request": Provide(provide_detection_request, sync_to_thread=False)},
    exception_handlers={Exception: answer_detection_failure},
    opt=dict(KEYED),
    tags=["Failure detection"],
)
