"""Turns off the framework's parser caches.

Litestar caches the last 1,024 queries, forms, cookie headers and paths with their parsed values. A
stranger could fill the memory with them, and passwords and tokens would stay in it for good. Its
parsers are quick enough without a cache.
"""

import sys
from functools import _lru_cache_wrapper
from types import ModuleType
from typing import Final

import litestar
from litestar import Litestar

_PACKAGE: Final = litestar.__name__


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
