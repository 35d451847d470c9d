"""Import every module of the packages named as arguments, and print as JSON how it went.

The tests run this file by its path, in an environment that has the agent's requirements alone; it
imports nothing of theirs. Missing: module -> what it lacks. Loaded: every top-level name
that was imported on the way.
"""

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator


def modules_of(package: str) -> Iterator[str]:
    """Name a module and, when it is a package, everything below it."""
    yield package
    path = getattr(importlib.import_module(package), "__path__", [])
    for module in pkgutil.walk_packages(path, f"{package}."):
        yield module.name


def main(packages: list[str]) -> None:
    """Import, and keep account of what could not be."""
    imported: list[str] = []
    missing: dict[str, str] = {}
    for package in packages:
        for module in modules_of(package):
            try:
                importlib.import_module(module)
            except ImportError as exc:
                missing[module] = str(exc)
            else:
                imported.append(module)
    loaded = sorted({name.partition(".")[0] for name in sys.modules})
    print(json.dumps({"Imported": imported, "Missing": missing, "Loaded": loaded}))


if __name__ == "__main__":
    main(sys.argv[1:])
