"""Failures, as the failure-detection API tells them: `{"ErrorType","ErrorDetails"}`."""

import logging
from typing import Final

from litestar import Response
from litestar.exceptions import HTTPException

from printreach.contract.detection_api import DetectionProblem
from printreach.contract.detection_errors import HTTP_STATUSES, DetectionError
from printreach.rules.detection_access import Refused
from printreach.rules.detection_contexts import RefusedForNow
from printreach.web.problems import AnyRequest

_log = logging.getLogger(__name__)

_INTERNAL: Final = Refused(
    DetectionError.INTERNAL_ERROR, "The service failed here. Try again in a moment."
)


class DetectionRefused(Exception):
    """The call ends here."""

    def __init__(self, refused: Refused) -> None:
        self.refused = refused
        super().__init__(refused.sentence)


def answer_detection_failure(request: AnyRequest, failure: Exception) -> Response[DetectionProblem]:
    """Tell a program what failed; of anything unforeseen no more than that, and it is logged."""
    match failure:
        case DetectionRefused(refused=refused):
            return _problem(refused)
        case HTTPException() if failure.status_code < 500:
            sentence = f"The request can't be read: {failure.detail.rstrip('.')}."
            return _problem(Refused(DetectionError.ARGS_PARSE_FAILED, sentence))
        case _:
            _log.error("%s %s failed", request.method, request.url.path, exc_info=failure)
            return _problem(_INTERNAL)


def _problem(refused: Refused) -> Response[DetectionProblem]:
    headers = {}
    if isinstance(refused, RefusedForNow):
        headers["Retry-After"] = str(refused.retry_after_s)
    body = DetectionProblem(error_type=refused.error, error_details=refused.sentence)
    return Response(body, status_code=HTTP_STATUSES[refused.error], headers=headers)
