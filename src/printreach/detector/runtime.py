"""ONNX Runtime with its telemetry switched off.

Since 1.29 its wheels for Linux and macOS send telemetry about models and machine to their maker and
leave an identifier of the machine in the home folder. Only this variable stops that, and only if it
is set before the library is loaded, so the library is imported nowhere but here.
"""

import os
from typing import Final

_KEEPS_QUIET: Final = "ORT_DISABLE_TELEMETRY"

# The library reads it, not our code.
os.putenv(_KEEPS_QUIET, "1")

import onnxruntime  # type: ignore[import-untyped]  # noqa: E402  # no types; after the variable

__all__ = ["onnxruntime"]
