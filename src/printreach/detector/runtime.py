"""ONNX Runtime, kept from telling its maker what runs here.

Its wheels for Linux and macOS send what they run, and on what, to their maker, and leave an
identifier of the machine in the home folder (since 1.29). Only this variable stops that, and only
before the library is loaded, so nobody imports it but from here.
"""

import os
from typing import Final

_KEEPS_QUIET: Final = "ORT_DISABLE_TELEMETRY"

# It is the library that reads it, not we.
os.putenv(_KEEPS_QUIET, "1")

import onnxruntime  # type: ignore[import-untyped]  # noqa: E402  # no types; after the variable

__all__ = ["onnxruntime"]
