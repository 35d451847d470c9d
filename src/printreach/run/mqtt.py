"""The setting of the MQTT broker for Home Assistant, and its composition."""

import asyncio
from contextlib import AsyncExitStack

from printreach import __version__
from printreach.backends.mqtt_broker import MqttAddress, MqttBroker, read_mqtt_url
from printreach.hub.core import Core
from printreach.hub.home_assistant import HomeAssistant
from printreach.hub.printers.live import LiveStatus
from printreach.ports.printer_http import PrinterHttp
from printreach.run.setting_values import WrongValue


def read_broker(text: str) -> MqttAddress | None:
    """Parse `mqtt://` or `mqtts://` with optional user and password; None for the empty text."""
    try:
        return read_mqtt_url(text) if text else None
    except ValueError:
        # The text holds a password, so it isn't repeated.
        raise WrongValue(
            "is not the address of a broker, such as mqtts://user:password@mqtt.example:8883."
        ) from None


def start_home_assistant(
    address: MqttAddress, core: Core, printers: PrinterHttp, ends: AsyncExitStack
) -> None:
    """Publish printers to the broker until `ends` closes."""
    live = LiveStatus(printers, core.clock)
    ends.push_async_callback(live.close)
    home = HomeAssistant(
        core=core,
        broker=MqttBroker(address),
        live=live,
        printers=printers,
        version=__version__,
    )
    ends.push_async_callback(_end, asyncio.create_task(home.run(), name="worker: home assistant"))


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
