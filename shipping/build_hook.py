"""What happens when the package is built: the pages' files are looked for, and the hot rooms are
compiled where that is asked for by PRINTREACH_COMPILE=1.

mypyc compiles them as they stand: https://mypyc.readthedocs.io. A wheel without it is pure Python
and behaves the same; the same tests run against both.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STYLES: Final = "src/printreach/web/static/app.css"
HANDED_OUT: Final = (
    "LICENSE",
    "pyproject.toml",
    "requirements/agent.txt",
    "requirements/demo.txt",
)
"""What a service needs of the repository's root to hand out its agent."""
SHIPPED: Final = "printreach/web/installing/shipped"
WISH: Final = "PRINTREACH_COMPILE"
"""The variable of the environment that asks for compiled rooms, by 1."""

HOT: Final = (
    "wire/{errors,events,frames,heads,keepalive,receiver,session,state}",
    "http1/{bodies,chunked,client,client_connection,exchange,fields,framing,heads,messages}",
    "http1/{request_body,sending,server_core,small_writes,target}",
    "tunnel/{keepalive,link,shared_timer,stream,tunnel}",
    "relay/{admission,agent_frames,answering,caller_exchange,commands,connection,directory}",
    "relay/{disconnect_detector,exchange,timeouts,webcam_feeds,webcam_frames}",
    "relay/{front,header_filter,held_request,hosts,node,printer_hosts,request_ids,route}",
    "agent/{local_http,serve}",
    "limiters/{request_queue,shared_counts}",
    "rules/histogram",
    "rules/connections/{__init__,credentials,permissions}",
)
"""The modules on a request's path, in braces the names below each folder.

Not among them, since mypyc refuses or breaks them: classes below those of Cython
(tunnel/websocket_link, relay/websocket_upgrade), below built-in exceptions (http1/stream), and
asynchronous generators (http1/fetch, tunnel/served).
"""

# Types of other libraries are left out even where these are installed, so that every machine
# compiles the same. Without msgspec's, its classes look wrong.
SETTINGS: Final = """\
[mypy]
mypy_path = src
explicit_package_bases = true
namespace_packages = true
no_site_packages = true
ignore_missing_imports = true
[mypy-printreach.contract.*]
ignore_errors = true
"""
SETUP: Final = """\
import sys
from mypyc.build import mypycify
from setuptools import setup
extensions = mypycify(
    ["--config-file", "mypy.ini", *sys.argv.pop().split(",")],
    group_name="printreach_hot",
    multi_file=True,
)
setup(name="printreach-hot", packages=[], py_modules=[], ext_modules=extensions)
"""


def hot_files() -> list[str]:
    """Return the files to compile, as paths below the repository."""
    return [
        f"src/printreach/{folder}/{name}.py"
        for folder, _, names in (pattern.rpartition("/") for pattern in HOT)
        for name in names.strip("{}").split(",")
    ]


def compile_hot(root: Path, work: Path) -> list[Path]:
    """Compile the hot files of this repository below work, an empty folder; return what came of it.

    The paths are below work/built, as they are to be below the package's root. Raises
    CalledProcessError with the compiler's words on standard error.
    """
    (work / "src").symlink_to(root / "src")
    (work / "mypy.ini").write_text(SETTINGS)
    (work / "setup.py").write_text(SETUP)
    jobs = str(os.cpu_count() or 1)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", "built", "-j", jobs]
    subprocess.run([*command, ",".join(hot_files())], cwd=work, check=True)
    return sorted((work / "built").rglob("*.so"))


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]  # the config class is private
    """Looks for the pages' files, and compiles the hot rooms where that was asked for."""

    _work: "tempfile.TemporaryDirectory[str] | None" = None

    def dependencies(self) -> list[str]:
        """Return what the compiling needs beside hatchling."""
        return ["mypy>=2.4", "setuptools>=80"] if os.environ.get(WISH) == "1" else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Look for what `make install` builds; an editable install may come before it.

        The agent does without the pages' styles, so their absence is said, not refused. An
        editable install stays interpreted: what one edits would not be what runs.
        """
        if version == "editable":
            return
        if not (Path(self.root) / STYLES).is_file():
            self.app.display_warning(
                "The service's pages will have no styles and scripts: run `make install` first."
            )
        for name in HANDED_OUT:
            build_data["force_include"][str(Path(self.root) / name)] = f"{SHIPPED}/{name}"
        if os.environ.get(WISH) == "1":
            self._work = tempfile.TemporaryDirectory(prefix="printreach-")
            work = Path(self._work.name)
            built = compile_hot(Path(self.root), work)
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            for path in built:
                name = path.relative_to(work / "built").as_posix()
                build_data["force_include"][str(path)] = name.removeprefix("src/")

    def finalize(self, _version: str, _data: dict[str, Any], _artifact_path: str) -> None:
        """Remove what the compiling left."""
        if self._work is not None:
            self._work.cleanup()
