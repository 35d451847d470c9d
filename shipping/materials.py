"""Read what is shipped from the pinned lists and from the metadata of the installed libraries."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

PIN: Final = re.compile(
    r"^(?P<name>[\w.-]+)(?:\[[\w,-]+\])?==(?P<version>[^ ;\n]+)(?P<rest>(?:.*\\\n)*.*)$",
    re.MULTILINE,
)
EXPRESSION: Final = re.compile(r"[A-Za-z0-9.+-]+(?: (?:OR|AND|WITH) [A-Za-z0-9.+-]+)*")
HASH: Final = re.compile(r"--hash=sha256:([0-9a-f]{64})")

# Libraries whose metadata names no licence, or that this machine doesn't install; each was read in
# the licence file of its distribution.
KNOWN: Final = {
    "aiofastnet": "MIT",
    "colorama": "BSD-3-Clause",
    "picows": "MIT",
    "rich-click": "MIT",
}

# What metadata says, in the identifiers of SPDX. "BSD License" has three clauses in every library
# here that says so, and "BSD" two, by their licence files.
IDENTIFIERS: Final = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "BSD": "BSD-2-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Material:
    """One library. licence: an SPDX expression. hashes: SHA-256 of each file an index may serve.

    needed_by: the lists that name it; "pages" for what builds the styles and scripts.
    """

    name: str
    version: str
    licence: str
    kind: str
    hashes: tuple[str, ...]
    needed_by: tuple[str, ...]

    @property
    def purl(self) -> str:
        """Its package URL, which is what advisories name it by."""
        return f"pkg:{self.kind}/{self.name.replace('@', '%40')}@{self.version}"


class LicenceUnknown(Exception):
    """The message names the library, and where its licence is to be written down."""


def licence_of(name: str) -> str:
    """Raises LicenceUnknown."""
    if name in KNOWN:
        return KNOWN[name]
    try:
        said = metadata.metadata(name).json
    except metadata.PackageNotFoundError:
        raise LicenceUnknown(f"{name} isn't installed: name its licence in KNOWN") from None
    if expression := said.get("license_expression"):
        return str(expression)
    classifiers = [str(one) for one in said.get("classifier", [])]
    named = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")]
    words = [one for one in (str(said.get("license", "")), *named) if one]
    for word in words:
        found = IDENTIFIERS.get(word, word)
        if EXPRESSION.fullmatch(found):
            return found
    raise LicenceUnknown(f"{name} says nothing clear of its licence ({words}): name it in KNOWN")


def python_materials(folder: Path, lists: Sequence[str]) -> list[Material]:
    """What the pinned lists of that folder name, each library and version once."""
    found: dict[tuple[str, str], tuple[set[str], list[str]]] = {}
    for one in lists:
        for pin in PIN.finditer((folder / f"{one}.txt").read_text()):
            hashes, needed = found.setdefault((pin["name"], pin["version"]), (set(), []))
            hashes.update(HASH.findall(pin["rest"]))
            needed.append(one)
    return [
        Material(
            name=name,
            version=version,
            licence=licence_of(name),
            kind="pypi",
            hashes=tuple(sorted(hashes)),
            needed_by=tuple(needed),
        )
        for (name, version), (hashes, needed) in sorted(found.items())
    ]


def page_materials(lock: Path) -> list[Material]:
    """What builds the pages' styles and scripts: none of it but our own files gets into them."""
    packages = json.loads(lock.read_text())["packages"]
    return [
        Material(
            name=path.rpartition("node_modules/")[2],
            version=package["version"],
            licence=package.get("license", "unknown"),
            kind="npm",
            hashes=(),
            needed_by=("pages",),
        )
        for path, package in sorted(packages.items())
        if path
    ]
