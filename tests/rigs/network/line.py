"""The line: python -m tests.rigs.network.line CONTROL NAMESPACE NAMESPACE.

Makes the device line0 in each namespace and carries packets between the two. Datagrams to the
socket CONTROL, JSON each, say what packets meet: {"loss": 0.02, "delay_s": 0.1, "is_cut": false}.
"""

import fcntl
import heapq
import json
import os
import random
import select
import socket
import struct
import sys
import time
from dataclasses import dataclass, field

from tests.rigs.network.namespaces import TUN, enter

DEVICE = "line0"
TUNSETIFF = 0x400454CA  # linux/if_tun.h
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
LARGEST_PACKET = 65535


@dataclass
class Condition:
    """The conditions of packets. delay_s: one way. loss: the part of them that is lost."""

    loss: float = 0.0
    delay_s: float = 0.0
    is_cut: bool = False


@dataclass(order=True)
class Packet:
    """One under way. number: packets that are due at once keep their order."""

    due_at: float
    number: int
    data: bytes = field(compare=False)
    to: int = field(compare=False)


def open_device(namespace: str) -> int:
    """Make the device in that namespace; its packets are read and written here."""
    enter(namespace)
    device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    return device


class Line:
    """Packets in both directions, each on its way for a while."""

    def __init__(self, one: int, other: int) -> None:
        self._far_end = {one: other, other: one}
        self._under_way: list[Packet] = []
        self._chance = random.Random(1)
        self._count = 0
        self.condition = Condition()

    @property
    def wait_s(self) -> float | None:
        """Until the next packet is due."""
        if not self._under_way:
            return None
        return max(0.0, self._under_way[0].due_at - time.monotonic())

    def take(self, device: int) -> None:
        """Read one packet that one end has sent.

        No more at once: whoever has said what packets meet means those that come behind it.
        """
        data = os.read(device, LARGEST_PACKET)
        if not self.condition.is_cut and self._chance.random() >= self.condition.loss:
            self._count += 1
            due_at = time.monotonic() + self.condition.delay_s
            packet = Packet(due_at, self._count, data, self._far_end[device])
            heapq.heappush(self._under_way, packet)

    def deliver(self) -> None:
        """Pass on what is due."""
        while self._under_way and self._under_way[0].due_at <= time.monotonic():
            packet = heapq.heappop(self._under_way)
            try:
                os.write(packet.to, packet.data)
            except OSError:
                pass  # the device is not up yet, or its queue is full: lost, as on a real line


def main(control_path: str, *namespaces: str) -> None:
    """Carry packets until the process is ended."""
    control = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    control.bind(control_path)
    devices = [open_device(name) for name in namespaces]
    line = Line(*devices)
    while True:
        readable, _, _ = select.select([control.fileno(), *devices], [], [], line.wait_s)
        for one in readable:
            if one == control.fileno():
                line.condition = Condition(**json.loads(control.recv(4096)))
            else:
                line.take(one)
        line.deliver()


if __name__ == "__main__":
    main(*sys.argv[1:])
