"""APIs for programs. What stands in APIS is served and described."""

from collections.abc import Sequence
from typing import Final

from litestar import Router

APIS: Final[Sequence[Router]] = ()
