"""How the C library keeps memory: the one knob that the path of bytes needs."""

import ctypes

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_KEPT_BYTES = 4 << 20
_MAPPED_FROM_BYTES = 2 << 20
"""Twice the largest link message: what a body passes through comes from the heap."""


def keep_freed_memory() -> None:
    """Let glibc keep up to 4 MiB that was freed, for the next chunk of a body.

    Left alone it gives memory back at 128 KiB and asks for it again with the next read: half of
    the agent's CPU time in a download were page faults and brk(). See mallopt(3); other C libraries
    know no mallopt, and are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM_BYTES)
