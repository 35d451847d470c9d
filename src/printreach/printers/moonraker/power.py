"""Power devices of Moonraker: sockets and relays that it switches itself. Pure.

Source: answers of Moonraker 0.11.0 to machine.device_power.devices, and notify_power_changed.
"""

from collections.abc import Sequence

from printreach.contract.status import Light
from printreach.printers import loose

from .machine import is_light


def power_lights(answer: object) -> tuple[Light, ...]:
    """Return those devices that are lights."""
    return _named(loose.items(answer, "devices"))


def with_change(lights: tuple[Light, ...], params: object) -> tuple[Light, ...]:
    """params: of notify_power_changed, a list of one device."""
    changed = _named(params if isinstance(params, list) else [])
    by_name = {light.name: light for light in changed}
    return tuple(by_name.get(light.name, light) for light in lights)


def _named(devices: Sequence[object]) -> tuple[Light, ...]:
    found: dict[str, Light] = {}
    for device in devices:
        name = loose.text(device, "device")
        if name is not None and is_light(name):
            found[name] = Light(name=name, on=loose.text(device, "status") == "on")
    return tuple(found.values())
