"""Network namespaces: made for a test run, entered by a thread, removed with what is in them."""

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.requirements_of_tests import need

CLONE_NEWNET = 0x40000000  # linux/sched.h
TUN = Path("/dev/net/tun")


@dataclass(frozen=True)
class Namespace:
    """A network of its own: loopback, and what is put into it."""

    name: str

    @contextmanager
    def inside(self) -> Iterator[None]:
        """This thread, and what it starts meanwhile, uses that network."""
        outside = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            enter(self.name)
            yield
        finally:
            _set_namespace(outside)
            os.close(outside)

    def ip(self, *words: str) -> None:
        """Run `ip` in it."""
        subprocess.run(["ip", "-n", self.name, *words], check=True, capture_output=True)


def enter(name: str) -> None:
    """Let this thread use that network from now on."""
    descriptor = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        _set_namespace(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def namespace(name: str) -> Iterator[Namespace]:
    """Make one; skips the test where they can't be had."""
    need("ip", shutil.which("ip") is not None, "apt-get install iproute2")
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False)
    need("a network namespace", made.returncode == 0, "run the tests as root, on Linux")
    need(str(TUN), os.access(TUN, os.R_OK | os.W_OK), "a kernel with CONFIG_TUN")
    try:
        one = Namespace(name)
        one.ip("link", "set", "lo", "up")
        yield one
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)


def _set_namespace(descriptor: int) -> None:
    assert sys.platform == "linux"
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
