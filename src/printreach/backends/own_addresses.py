"""The addresses of this machine."""

import socket


def is_own_address(address: str) -> bool:
    """Return whether the machine would reach that address without leaving itself.

    The kernel tells from which address it would send: to an own one from that one. Nothing is sent.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((address, 9))
            return bool(asking.getsockname()[0] == address)
        except OSError:
            return False
