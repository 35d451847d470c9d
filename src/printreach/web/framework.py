"""What differs from the framework's own ways: methods of addresses, and its parsers' caches.

An address answers OPTIONS without a handler of its own, and refusals name its methods. Litestar
caches the last 1,024 queries, forms, cookie headers and paths with their parsed values. A stranger
could fill the memory with them, and passwords and tokens would stay in it for good. Its parsers are
quick enough without a cache.
"""

import sys
from functools import _lru_cache_wrapper
from types import ModuleType
from typing import Any, Final

import litestar
from litestar import Litestar, MediaType, Response
from litestar.exceptions import MethodNotAllowedException

from printreach.web.problems import AnyRequest
from printreach.web.routing import OPTIONS, DeclaredRouter

_ALLOW: Final = "allow"
"""The header by which the router says what an address takes."""
_BETWEEN: Final = ", "

_PACKAGE: Final = litestar.__name__


class WebApp(Litestar, DeclaredRouter):  # type: ignore[misc]  # its register returns nothing
    """The application. `answer_options` answers what no handler does."""

    __slots__ = ()


def answer_options(request: AnyRequest, failure: Exception) -> Response[Any] | None:
    """Answer OPTIONS, which the router refuses, with the methods of the address.

    None is for any other failure; one for another method is told that OPTIONS is taken.
    """
    if not isinstance(failure, MethodNotAllowedException):
        return None
    headers = failure.headers or {}
    if _ALLOW not in headers:
        return None
    headers[_ALLOW] = _BETWEEN.join(sorted([*headers[_ALLOW].split(_BETWEEN), OPTIONS]))
    if request.method != OPTIONS:
        return None
    return Response(None, status_code=204, headers=headers, media_type=MediaType.TEXT)


def turn_off_parser_caches(app: Litestar) -> None:
    """Replace every cached function of the framework, and the router's, by the uncached one.

    Source: litestar 2.25, `_parsers`, `_kwargs.extractors`, `_asgi.asgi_router`,
    `_asgi.routing_trie.traversal` and `datastructures.url`.
    """
    modules = [module for name, module in sys.modules.items() if _is_of_framework(name)]
    for module in modules:
        _turn_off_in(module)
        for member in list(vars(module).values()):
            if isinstance(member, type) and _is_of_framework(member.__module__):
                _turn_off_in(member)
    router = app.asgi_router
    router.handle_routing = router._handle_routing  # type: ignore[assignment]


def _turn_off_in(place: ModuleType | type) -> None:
    members: dict[str, object] = dict(vars(place))
    for name, member in members.items():
        if isinstance(member, _lru_cache_wrapper):
            setattr(place, name, member.__wrapped__)
        elif isinstance(member, classmethod):
            function: object = member.__func__
            if isinstance(function, _lru_cache_wrapper):
                setattr(place, name, classmethod(function.__wrapped__))


def _is_of_framework(name: str) -> bool:
    return name == _PACKAGE or name.startswith(f"{_PACKAGE}.")
