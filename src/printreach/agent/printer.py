"""The agent's printer: its adapter, and the command API on top of it."""

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Protocol, cast

from printreach.agent.commands.api import CommandApi
from printreach.agent.commands.files import FileCommands
from printreach.agent.commands.replay import Replays, ServiceClock
from printreach.agent.commands.request import CommandContext, CommandRequest
from printreach.agent.commands.webcams import CameraHub, WebcamCommands
from printreach.agent.config import AgentConfig, Webcam
from printreach.agent.host_api_keys import HostApiKeys
from printreach.agent.keys import ServicePins
from printreach.agent.lan_webhooks import LanWebhooks
from printreach.agent.log_lines import AgentLog, kept_log
from printreach.agent.outbox import Outbox
from printreach.agent.print_tracker import PrintTracker, TrackerEnvironment
from printreach.agent.remote_lock import RemoteLock
from printreach.agent.temperature_recorder import TemperatureRecorder
from printreach.contract import signin
from printreach.contract.status import DetectorStatus, WebcamEntry
from printreach.printers.camera_addresses import CameraHosts
from printreach.printers.http_camera import HttpCamera
from printreach.printers.port import Camera, Printer
from printreach.printers.setup import PrinterSetup
from printreach.rules.backoff import Backoff
from printreach.rules.detection.detector import aged
from printreach.rules.webhooks.messages import About
from printreach.wire.heads import encode_response

log = logging.getLogger(__name__)
STEADY_S = 60.0
"""A task that ran at least this long is restarted at once, whatever failed before."""
BEGIN_AGAIN: Final = Backoff.doubling(0.5, 30.0)


class AdapterEnvironment(Protocol):
    """Clocks and randomness that an adapter may use."""

    @property
    def monotonic(self) -> Callable[[], float]: ...
    @property
    def unix_time(self) -> Callable[[], float]: ...
    @property
    def uniform(self) -> Callable[[float, float], float]: ...
    @property
    def token_bytes(self) -> Callable[[int], bytes]: ...


class _AdapterModule(Protocol):
    def make(self, setup: PrinterSetup) -> Printer: ...


class LatestDetectorStatus:
    """The latest status, which is shown with its age while the tunnel is down."""

    def __init__(self, steady_time: Callable[[], float]) -> None:
        self._now = steady_time
        self._detector: signin.Detector | None = None
        self._updated_at = 0.0

    def update(self, detector: signin.Detector) -> None:
        self._detector, self._updated_at = detector, self._now()

    def of_print(self, print_id: str) -> DetectorStatus:
        """Return the status of this print; an empty one for another print."""
        if self._detector is None or not print_id or self._detector.print_id != print_id:
            return DetectorStatus()
        return aged(self._detector.status, self._now() - self._updated_at)


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandedPrinter:
    """The printer and everything that the uplink needs to serve its commands.

    clock: is set to the service's time at sign-in. detector: receives the failure detector's
    status. host_api_keys: makes keys of the printer's software. outbox: events for the service.
    smart_pause_popup: returns the sentence for people beside the printer, "" for no popup.
    """

    api: CommandApi
    clock: ServiceClock
    detector: LatestDetectorStatus
    host_api_keys: HostApiKeys
    outbox: Outbox
    temperatures: TemperatureRecorder
    smart_pause_popup: Callable[[], str] = lambda: ""


@asynccontextmanager
async def commanded_printer(
    config: AgentConfig,
    environment: AdapterEnvironment,
    printer_id: str,
    remote_lock: RemoteLock,
) -> AsyncIterator[CommandedPrinter]:
    """Run the printer's adapter while the context is open. printer_id: the public id.

    Its platform's code is imported here and not before: an agent carries the code of one.
    """
    name = f"printreach.printers.{config.kind.name}.adapter"
    module = cast("_AdapterModule", importlib.import_module(name))
    printer = module.make(_setup(config, environment, printer_id))
    detector = LatestDetectorStatus(environment.monotonic)
    clock, outbox = (
        ServiceClock(environment.monotonic),
        Outbox(config.data_dir, environment.monotonic),
    )
    lan_webhooks = LanWebhooks(config.lan_webhooks, lambda: _about(config, printer_id))
    print_tracker = PrintTracker(
        printer,
        outbox,
        _tracker_environment(environment, clock.unix_s),
        detector=detector.of_print,
        tell=lan_webhooks.tell,
    )
    temperatures = TemperatureRecorder(printer, environment.monotonic)
    hub = CameraHub(printer, [_camera(webcam) for webcam in config.webcams], environment.monotonic)
    command_context = CommandContext(
        clock=clock,
        replays=Replays(environment.monotonic),
        service_status=print_tracker.service_status,
        expect_pause=print_tracker.expect_pause,
        resume_ordered=print_tracker.resume_ordered,
        temperatures=temperatures,
        limits=config.limits,
        remote_lock=remote_lock,
    )
    with kept_log() as logs:
        api = CommandApi(
            printer, FileCommands(printer), WebcamCommands(hub), _log_command(logs), command_context
        )
        tasks = [
            asyncio.create_task(
                keep_running("the printer's adapter", printer.run, environment.uniform)
            ),
            asyncio.create_task(
                keep_running("the watch over prints", print_tracker.run, environment.uniform)
            ),
            asyncio.create_task(
                keep_running("the record of temperatures", temperatures.run, environment.uniform)
            ),
        ]
        if config.lan_webhooks:
            sending = keep_running("the LAN webhooks", lan_webhooks.run, environment.uniform)
            tasks.append(asyncio.create_task(sending))
        host_api_keys = HostApiKeys(printer, allowed=config.limits.allowed)
        try:
            yield CommandedPrinter(
                api=api,
                clock=clock,
                detector=detector,
                host_api_keys=host_api_keys,
                outbox=outbox,
                temperatures=temperatures,
                smart_pause_popup=print_tracker.smart_pause_popup,
            )
        finally:
            await host_api_keys.close()
            await api.close()
            await hub.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _about(config: AgentConfig, printer_id: str) -> About:
    """Return what a LAN webhook is sent beside an event; the name is the service's, if known."""
    pin = ServicePins.load(config.data_dir).get(str(config.service))
    return About(
        printer_id=printer_id,
        printer_name=config.kind.title if pin is None else pin.printer_name,
        page_url=f"{config.service_url}/printers/{printer_id}",
    )


def _tracker_environment(
    environment: AdapterEnvironment, service_time: Callable[[], float | None]
) -> TrackerEnvironment:
    return TrackerEnvironment(
        steady_time=environment.monotonic,
        unix_time=environment.unix_time,
        service_time=service_time,
        token_bytes=environment.token_bytes,
    )


def _setup(config: AgentConfig, environment: AdapterEnvironment, printer_id: str) -> PrinterSetup:
    assert config.printer is not None  # kinds with an adapter have an address
    secrets = config.credentials
    return PrinterSetup(
        host=config.printer.host,
        port=config.printer.port,
        tls=config.printer.is_tls,
        data_dir=config.data_dir,
        steady_time=environment.monotonic,
        unix_time=environment.unix_time,
        uniform=environment.uniform,
        token_bytes=environment.token_bytes,
        api_key=secrets.api_key,
        user=secrets.user,
        password=secrets.password,
        access_code=secrets.access_code,
        serial=secrets.serial,
        printer_id=printer_id,
        limits=config.limits.commands,
        camera_hosts=CameraHosts(config.printer.host, config.limits.camera_hosts),
    )


def _camera(webcam: Webcam) -> Camera:
    entry = WebcamEntry(name=webcam.name)
    # The owner set these addresses in the agent's own options, so they may be anywhere.
    return HttpCamera(
        entry, snapshot_url=webcam.snapshot_url, stream_url=webcam.stream_url, hosts=None
    )


def _log_command(logs: AgentLog) -> Callable[[CommandRequest], Awaitable[None]]:
    async def answer(request: CommandRequest) -> None:
        text = logs.text()
        headers = [
            (b"Content-Type", b"text/plain; charset=utf-8"),
            (b"Content-Length", b"%d" % len(text)),
            (b"Cache-Control", b"no-store"),
        ]
        await request.stream.respond(encode_response(200, b"OK", headers), text, fin=True)

    return answer


async def keep_running(
    name: str, run: Callable[[], Awaitable[None]], uniform: Callable[[float, float], float]
) -> None:
    """Run it until cancelled; where it ends or raises, say so and begin again a little later.

    Adapters handle whatever a printer sends. Should one fail all the same, its printer comes back
    by itself, and not only with the next start of the agent.
    """
    loop = asyncio.get_running_loop()
    failures = 0
    while True:
        began = loop.time()
        try:
            await run()
            log.error("%s ended unexpectedly and is restarted", name)
        except Exception:
            log.exception("%s failed and is restarted", name)
        failures = failures + 1 if loop.time() - began < STEADY_S else 1
        await asyncio.sleep(BEGIN_AGAIN.jittered_s(failures, uniform))
