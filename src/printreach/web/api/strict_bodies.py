"""Strict JSON bodies: the framework would accept "6" as a number, and true as one."""

from typing import TypeVar

import msgspec
from litestar.exceptions import ValidationException

from printreach.contract.codec import sentence_of
from printreach.web.problems import AnyRequest

T = TypeVar("T")


async def read_strictly(request: AnyRequest, kind: type[T]) -> T:
    """Parse the body strictly after the framework has read it. Raises ValidationException."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except msgspec.ValidationError as error:
        raise ValidationException(sentence_of(error, kind).removesuffix(".")) from None
