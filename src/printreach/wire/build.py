"""Whether this installation is compiled, which PRINTREACH_COMPILE=1 asks a build for."""

from typing import Final

from . import frames

BUILD: Final = "interpreted" if frames.__file__.endswith(".py") else "compiled"
"""One word: every hot room is compiled together with this one, or none is."""
