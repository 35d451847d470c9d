"""Which room may know what, as one table, and the check that holds an import graph against it.

Allow-lists, because lists of what is forbidden rot: a library nobody thought of passes them. That
rooms stack one way and have no cycles stands in pyproject.toml and is checked by import-linter;
here is what it cannot say.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import permutations

from grimp import ImportGraph

NOTHING: frozenset[str] = frozenset()

# What computes and remembers nothing: no clock, no randomness, no socket, no file, no event loop.
# datetime is here for its types; the linter bans now(). urllib is here for urllib.parse; the
# linter bans urllib.request. _typeshed exists for type checkers alone.
PURE_STANDARD_LIBRARY = frozenset(
    {
        *("__future__", "_typeshed", "types", "typing"),
        *("abc", "collections", "contextlib", "dataclasses", "enum"),
        *("bisect", "functools", "heapq", "itertools", "operator"),
        *("datetime", "decimal", "fractions", "math"),
        *("html", "keyword", "re", "string", "unicodedata"),
        *("base64", "binascii", "hashlib", "hmac", "ipaddress", "json", "struct", "urllib"),
    }
)
ANY_STANDARD_LIBRARY = PURE_STANDARD_LIBRARY | sys.stdlib_module_names


@dataclass(frozen=True, slots=True)
class Room:
    """What the modules of a room may import from outside the package."""

    libraries: frozenset[str] = NOTHING
    standard: frozenset[str] = ANY_STANDARD_LIBRARY

    def admits(self, top_level_name: str) -> bool:
        return top_level_name in self.libraries or top_level_name in self.standard


def pure(*libraries: str) -> Room:
    """A room that computes, and touches nothing."""
    return Room(frozenset(libraries), PURE_STANDARD_LIBRARY)


def driver(*libraries: str) -> Room:
    """A room that may wait, read and send with the standard library and these libraries."""
    return Room(frozenset(libraries))


# The most specific name that fits decides; a star stands for one or more parts.
ROOMS = {
    "contract": pure("msgspec"),
    "languages": driver(),
    "languages.formats": driver("babel"),
    "wire": pure(),
    "rules": pure(),
    "ports": pure(),
    "store": driver("aiosqlite", "alembic", "cryptography", "msgspec", "sqlalchemy"),
    "store.postgresql.dialect": driver("asyncpg", "sqlalchemy"),
    "hub": driver("msgspec"),
    "limiters": driver(),
    "http1": driver(),
    "http1.heads": pure(),
    "http1.chunked": pure(),
    "tunnel": driver(),
    "tunnel.*link": driver("picows"),
    "printers": driver("msgspec"),
    "printers.loose": pure(),
    "printers.port": pure(),
    "printers.print_progress": pure(),
    "printers.websocket": driver("websockets"),
    "printers.*.translate": pure(),
    "printers.mqtt": driver("aiomqtt"),
    "printers.bambu.api": driver("cryptography"),
    "printers.simulated": driver("PIL", "msgspec", "multipart"),
    "agent": driver("cryptography", "msgspec", "picows"),
    "agent.octoprint_plugin.plugin": driver("flask", "msgspec", "octoprint"),
    "agent.commands.mqtt_bridge": driver("websockets"),
    "agent.commands.mqtt_connect": pure(),
    "relay": driver("cryptography", "msgspec", "picows"),
    "relay.web_socket": driver("websockets"),
    "detector": driver("PIL", "numpy"),
    "detector.runtime": driver("onnxruntime"),
    "web": driver("jinja2", "litestar", "markupsafe", "msgspec", "multipart"),
    "web.qr_code": driver("markupsafe", "segno"),
    "backends": driver(
        *(
            "aiosqlite",
            "argon2",
            "cryptography",
            "joserfc",
            "msgspec",
            "sqlalchemy",
            "webauthn",
        ),
    ),
    "backends.snapshots_s3": driver("obstore"),
    "backends.pay_stripe": driver("msgspec", "stripe"),
    "backends.bus_nats": driver("nats"),
    "backends.traces": driver("opentelemetry"),
    "backends.mqtt_broker": driver("aiomqtt"),
    "backends.notify_apprise": driver("apprise", "requests"),
    "run": driver(
        *("aiosqlite", "alembic", "argon2", "cryptography", "granian", "jinja2", "litestar"),
        *("markupsafe", "msgspec", "picows", "sqlalchemy", "uvloop"),
    ),
    "run.agent": driver("cryptography", "msgspec", "picows"),
    "run.agent_questions": driver("cryptography", "msgspec", "picows"),
    "run.agent_setup": driver("cryptography", "msgspec", "picows"),
    "run.octoprint_plugin": driver(),
}

# A translation reads and makes these, and what lies beside it; never the vendor's API.
TRANSLATIONS_MAY_KNOW = (
    "languages",
    "contract",
    "rules",
    "printers.loose",
    "printers.port",
    "printers.print_progress",
)
TRANSLATIONS_MAY_NOT_KNOW_BESIDE_THEM = ("adapter", "api")


def broken_rules(graph: ImportGraph, root: str) -> list[str]:
    """Say, one sentence each, which imports of the package root the rooms do not admit."""
    return sorted(
        [
            *_modules_outside_every_room(graph, root),
            *_foreign_imports(graph, root),
            *_printers_that_know_each_other(graph, root),
            *_translations_that_know_too_much(graph, root),
        ]
    )


def room_of(name: str) -> Room | None:
    """Find the room of a module, named without the package ("relay.front")."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        ancestor = ".".join(parts[:length])
        for pattern, room in ROOMS.items():
            if fnmatchcase(ancestor, pattern) and ancestor.count(".") == pattern.count("."):
                return room
    return None


def _modules_outside_every_room(graph: ImportGraph, root: str) -> Iterator[str]:
    for module in graph.find_children(root):
        name = module.removeprefix(f"{root}.")
        if room_of(name) is None:
            yield f"{name} is no room of tests/architecture/rooms.py"


def _foreign_imports(graph: ImportGraph, root: str) -> Iterator[str]:
    for module in graph.find_descendants(root):
        name = module.removeprefix(f"{root}.")
        room = room_of(name)
        if room is None:
            continue
        for imported in _outside(root, graph.find_modules_directly_imported_by(module)):
            if not room.admits(imported):
                yield f"{name} imports {imported}"


def _printers_that_know_each_other(graph: ImportGraph, root: str) -> Iterator[str]:
    """The folders are read off the package, so that a new kind of printer needs no line here."""
    printers = f"{root}.printers"
    if printers not in graph.modules:
        return
    folders = [kind for kind in graph.find_children(printers) if graph.find_children(kind)]
    for one, other in permutations(sorted(folders), 2):
        for chain in graph.find_shortest_chains(importer=one, imported=other):
            yield " imports ".join(module.removeprefix(f"{root}.") for module in chain)


def _translations_that_know_too_much(graph: ImportGraph, root: str) -> Iterator[str]:
    for module in graph.find_matching_modules(f"{root}.printers.*.translate"):
        folder = module.rpartition(".")[0]
        admitted = (folder, *(f"{root}.{room}" for room in TRANSLATIONS_MAY_KNOW))
        banned = tuple(f"{folder}.{part}" for part in TRANSLATIONS_MAY_NOT_KNOW_BESIDE_THEM)
        for imported in graph.find_modules_directly_imported_by(module):
            if not _is_in(root, imported):
                continue
            if not _is_in_any(admitted, imported) or _is_in_any(banned, imported):
                yield f"{module.removeprefix(f'{root}.')} imports {imported}"


def _outside(root: str, modules: Iterable[str]) -> Iterator[str]:
    return (module for module in modules if not _is_in(root, module))


def _is_in(package: str, module: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _is_in_any(packages: Iterable[str], module: str) -> bool:
    return any(_is_in(package, module) for package in packages)
