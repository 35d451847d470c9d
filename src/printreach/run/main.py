"""The command line: `printreach serve`, `admin …`, `agent …`, `detector …`.

Only the module of the command in question is imported: the agent runs where no library of the
server is installed, and nobody waits for what they did not ask for.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, cast

from printreach import __version__
from printreach.run.process import importing
from printreach.wire.build import BUILD


@dataclass(frozen=True, slots=True)
class _Command:
    """A command of the command line. extra: the extra to install for it."""

    module: str
    extra: str
    help: str


class _CommandModule(Protocol):
    """The functions of a command's module."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def main(self, options: argparse.Namespace) -> int: ...


_COMMANDS: Final = {
    "serve": _Command("printreach.run.serve", "server", "run the service"),
    "admin": _Command(
        "printreach.run.admin", "server", "manage accounts, apps, printers and connections"
    ),
    "agent": _Command("printreach.run.agent", "agent", "connect a printer to the service"),
    "detector": _Command("printreach.run.detector", "detector", "find failed prints in images"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return 0, 1 with a sentence on standard error, or 2 for wrong usage."""
    words = list(sys.argv[1:] if argv is None else argv)
    wanted = next((word for word in words if not word.startswith("-")), None)
    parser = argparse.ArgumentParser(
        prog="printreach", description="Safe remote access to 3D printers, for apps and for people."
    )
    parser.add_argument(
        "--version", action="version", version=f"printreach {__version__} ({BUILD})"
    )
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    chosen: _CommandModule | None = None
    for name, command in _COMMANDS.items():
        subparser = subparsers.add_parser(name, help=command.help)
        if name == wanted:
            try:
                with importing():
                    chosen = cast("_CommandModule", importlib.import_module(command.module))
            except ModuleNotFoundError as missing:
                return _not_installed(name, command, missing)
            chosen.add_arguments(subparser)
    options = parser.parse_args(words)
    assert chosen is not None  # argparse has refused any other command
    return chosen.main(options)


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra, with every file checked against its hash.

    It runs in a folder with `requirements/`: a clone, or the output of `make package`.
    """
    return f"pip install --require-hashes -r requirements/{extra}.txt"


def _not_installed(name: str, command: _Command, missing: ModuleNotFoundError) -> int:
    # The wheel that a service hands out has the agent alone.
    if not Path(__file__).with_name(f"{name}.py").is_file():
        print(f"printreach {name} is not part of the agent's installation.", file=sys.stderr)
        return 1
    library = (missing.name or "").partition(".")[0]
    if library == "printreach":
        raise missing  # a missing module of our own is a bug
    print(
        f"printreach {name} needs {library}; install it with: {how_to_install(command.extra)}",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
