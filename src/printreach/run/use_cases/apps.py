"""Composition of what apps use: connections, printer state, events, failure detection."""

from collections.abc import Callable

from printreach.hub.account_limits import RequestLimits
from printreach.hub.app_calls import AppCalls
from printreach.hub.detection.contexts import Detection
from printreach.hub.detection.gate import DetectionGate
from printreach.hub.developers import Developers, developers
from printreach.hub.event_stream import EventStreams
from printreach.hub.live import LiveStatus
from printreach.hub.operating import Operating
from printreach.hub.portal import Portal
from printreach.ports import Bus
from printreach.ports.printer_http import HostKeys
from printreach.ports.relaying import DetectorStates
from printreach.ports.scoring import Scorer
from printreach.rules.detector import DetectorOff
from printreach.run.use_cases.core import CoreServices


def portal(core: CoreServices, operated: Operating, host_keys: HostKeys | None) -> Portal:
    """Build the portal, where an app's user allows it a connection."""
    addresses = core.settings.addresses
    return Portal(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        connections=operated.connections,
        printers=operated.printers,
        supporters=core.settings.supporters,
        own_page=addresses.of_completion_page(),
        test_page=addresses.of_test_page(),
        host_keys=host_keys,
    )


def app_calls(
    core: CoreServices,
    live: LiveStatus,
    detector: DetectorStates,
    why_detector_is_off: Callable[[], DetectorOff | None],
) -> AppCalls:
    """Build the API calls that an app makes with its connection."""
    return AppCalls(
        store=core.store,
        clock=core.clock,
        supporters=core.settings.supporters,
        addresses=core.settings.addresses,
        live=live,
        detector=detector,
        why_off=why_detector_is_off,
    )


def event_streams(core: CoreServices, bus: Bus) -> EventStreams:
    """Build the streams of events of an account's printers."""
    addresses = core.settings.addresses
    return EventStreams(
        store=core.store,
        bus=bus,
        clock=core.clock,
        addresses=addresses,
        snapshot_url=addresses.of_snapshot,
    )


def developer_services(core: CoreServices) -> Developers:
    """Build the developers' use cases: apps, keys and usage."""
    settings = core.settings
    return developers(
        core.store,
        core.clock,
        core.token_bytes,
        core.proof,
        policy=settings.app_registration,
        plan=settings.detector_plan,
        claims_addresses=settings.detector_ip_claims,
    )


def detection(
    core: CoreServices, gate: DetectionGate, request_limits: RequestLimits, scorer: Scorer
) -> Detection:
    """Build the failure-detection API."""
    return Detection(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        gate=gate,
        request_limits=request_limits,
        scorer=scorer,
        primary_url=core.settings.detector_url,
        fallback_url=core.settings.base_url,
    )
