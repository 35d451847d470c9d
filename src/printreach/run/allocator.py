"""How memory is kept and collected: the two knobs that the path of bytes needs."""

import ctypes
import gc

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_KEPT_BYTES = 4 << 20
_MAPPED_FROM_BYTES = 2 << 20
"""Twice the largest link message: what a body passes through comes from the heap."""
_COLLECT_EVERY = (10_000, 20, 20)


def suit_memory_to_traffic() -> None:
    """Set both, once, before the event loop starts."""
    _keep_freed_memory()
    _collect_seldom()


def _keep_freed_memory() -> None:
    """Let glibc keep up to 4 MiB that was freed, for the next chunk of a body.

    Left alone it gives memory back at 128 KiB and asks for it again with the next read: half of
    the agent's CPU time in a download were page faults and brk(). See mallopt(3); other C libraries
    know no mallopt, and are left as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_FROM_BYTES)


def _collect_seldom() -> None:
    """Look for cycles less often than each 700 objects: a hundred requests under way are more.

    Requests make none, so all that Python found were those still under way, again and again:
    a tenth of the CPU time of a small GET.
    """
    gc.set_threshold(*_COLLECT_EVERY)


def leave_out_what_stays() -> None:
    """Take what the start has made out of every later search for cycles; call it once, when ready.

    The oldest generation is searched only when it has grown by a quarter. Of 270,000 objects that
    stay for ever a quarter took hours to come together, and so did the garbage among them.
    Without those a search is short, and comes in time.
    """
    gc.collect()
    gc.freeze()
