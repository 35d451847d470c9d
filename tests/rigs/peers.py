"""The programs of other people: each in a virtual environment of its own."""

import os
import shutil
from pathlib import Path

from tests.requirements_of_tests import need

ROOT = Path(__file__).parents[2]
PEERS = ROOT / "build" / "peers"

_PATHS = [str(ROOT / "tests" / "rigs" / "loopback_names"), os.environ.get("PYTHONPATH", "")]
LOOPBACK_NAMES = {"PYTHONPATH": os.pathsep.join(filter(None, _PATHS))}
"""Environment in which a Python program finds *.localhost and *.test on this machine."""


def peer_program(peer: str, program: str) -> Path:
    """The path of a program from one of requirements/peers-*.txt; skips where it is missing."""
    path = PEERS / peer / "bin" / program
    need(peer, path.exists(), "make peers")
    return path


def system_program(program: str, package: str) -> Path:
    """The path of a program of the operating system; skips where it is missing."""
    found = shutil.which(program, path="/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin")
    need(program, found is not None, f"apt-get install {package}")
    return Path(found or program)
