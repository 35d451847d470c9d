"""Bodies read to the letter: the framework would take "6" for a number, and true for one."""

from typing import TypeVar

import msgspec
from litestar.exceptions import ValidationException

from printreach.contract.codec import sentence_of
from printreach.web.problems import AnyRequest

T = TypeVar("T")


async def read_strictly(request: AnyRequest, kind: type[T]) -> T:
    """The body again, which the framework has taken already. Raises ValidationException."""
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except msgspec.ValidationError as error:
        raise ValidationException(sentence_of(error, kind).removesuffix(".")) from None
