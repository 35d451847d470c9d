"""Failures in the format of the failure-detection API: `{"ErrorType","ErrorDetails"}`."""

import logging
from collections.abc import Mapping
from typing import Final

from litestar import Response
from litestar.exceptions import HTTPException, MethodNotAllowedException, NotFoundException

from printreach.contract.detection_api import HTTP_STATUSES, DetectionError, DetectionProblem
from printreach.limiters.fair_semaphore import TooBusy
from printreach.ports import Unavailable
from printreach.rules.detection.access import CallRefused
from printreach.rules.detection.contexts import RetryLater
from printreach.web.problems import COME_BACK, AnyRequest, log_overload, path_in_log

_log = logging.getLogger(__name__)

DETECTION_PATH: Final = "/api/detector/v1"
_PROCESS_PATH: Final = f"{DETECTION_PATH}/process"
_INTERNAL: Final = CallRefused(
    DetectionError.INTERNAL_ERROR, "The service failed here. Try again in a moment."
)


_NO_CONTEXT: Final = CallRefused(
    DetectionError.CONTEXT_NOT_FOUND, "The address names no context; use the one that was returned."
)
_NO_CALL: Final = CallRefused(
    DetectionError.BAD_ARGS, "There is no such call; createcontext and process are called by POST."
)


class DetectionRefused(Exception):
    """The call is refused."""

    def __init__(self, refused: CallRefused) -> None:
        self.refused = refused
        super().__init__(refused.sentence)


def answer_detection_failure(request: AnyRequest, failure: Exception) -> Response[DetectionProblem]:
    """Tell a program what failed. An unforeseen failure is logged and reported without details."""
    match failure:
        case DetectionRefused(refused=refused):
            return _problem(refused)
        case NotFoundException() if request.url.path.rstrip("/") == _PROCESS_PATH:
            return _problem(_NO_CONTEXT)
        case NotFoundException() | MethodNotAllowedException():
            return _problem(_NO_CALL, failure.status_code, failure.headers)
        case HTTPException() if failure.status_code < 500:
            sentence = f"The request can't be read: {failure.detail.rstrip('.')}."
            return _problem(CallRefused(DetectionError.ARGS_PARSE_FAILED, sentence))
        case TooBusy() | Unavailable():
            log_overload(request, failure)
            return _problem(_INTERNAL, 503, COME_BACK)
        case _:
            _log.error("%s %s failed", request.method, path_in_log(request), exc_info=failure)
            return _problem(_INTERNAL)


def _problem(
    refused: CallRefused, status: int | None = None, more_headers: Mapping[str, str] | None = None
) -> Response[DetectionProblem]:
    """Return the response. status: if it differs from that of the error."""
    headers = dict(more_headers or {})
    if isinstance(refused, RetryLater):
        headers["Retry-After"] = str(refused.retry_after_s)
    body = DetectionProblem(error_type=refused.error, error_details=refused.sentence)
    return Response(body, status_code=status or HTTP_STATUSES[refused.error], headers=headers)
