"""What apps come for: a connection, its printer's state and events, a look at a picture."""

from printreach.hub.account_limits import RequestLimits
from printreach.hub.app_calls import AppCalls
from printreach.hub.detection.contexts import Detection
from printreach.hub.detection.gate import DetectionGate
from printreach.hub.developers import Developers, developers
from printreach.hub.event_stream import EventStreams
from printreach.hub.live import LiveStatus
from printreach.hub.operating import Operating
from printreach.hub.portal import Portal
from printreach.ports import Bus, DetectorStates, HostKeys
from printreach.ports.scoring import Scorer
from printreach.run.use_cases.ground import Ground


def portal(ground: Ground, operated: Operating, host_keys: HostKeys | None) -> Portal:
    """Where an app sends its user for a connection."""
    addresses = ground.settings.addresses
    return Portal(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        connections=operated.connections,
        printers=operated.printers,
        supporters=ground.settings.supporters,
        own_page=addresses.of_completion_page(),
        test_page=addresses.of_test_page(),
        host_keys=host_keys,
    )


def app_calls(ground: Ground, live: LiveStatus, detector: DetectorStates) -> AppCalls:
    """What an app asks of its connection."""
    return AppCalls(
        store=ground.store,
        clock=ground.clock,
        supporters=ground.settings.supporters,
        addresses=ground.settings.addresses,
        live=live,
        detector=detector,
        watches_prints=ground.settings.detector_watch,
    )


def event_streams(ground: Ground, bus: Bus) -> EventStreams:
    """What happens to an account's printers, for whoever follows it."""
    addresses = ground.settings.addresses
    return EventStreams(
        store=ground.store,
        bus=bus,
        clock=ground.clock,
        addresses=addresses,
        snapshot_url=addresses.of_snapshot,
    )


def developing(ground: Ground) -> Developers:
    """Apps, keys and what was used, for those who make apps."""
    settings = ground.settings
    return developers(
        ground.store,
        ground.clock,
        ground.token_bytes,
        ground.proof,
        policy=settings.app_registration,
        plan=settings.detector_plan,
        claims_addresses=settings.detector_ip_claims,
    )


def detection(
    ground: Ground, gate: DetectionGate, request_limits: RequestLimits, scorer: Scorer
) -> Detection:
    """The failure-detection API."""
    return Detection(
        store=ground.store,
        clock=ground.clock,
        token_bytes=ground.token_bytes,
        gate=gate,
        request_limits=request_limits,
        scorer=scorer,
        primary_url=ground.settings.detector_url,
        fallback_url=ground.settings.base_url,
    )
