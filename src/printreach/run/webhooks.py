"""Composition of webhooks: their HTTP client and signing keys, for the web role and the worker."""

import random
import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from printreach.backends.lookups import Lookups
from printreach.backends.webhook_http import WebhookHttp
from printreach.backends.webhook_keys import open_webhook_keys
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.webhooks.deliveries import Deliveries
from printreach.hub.webhooks.enqueue import WebhookEnqueuer
from printreach.hub.webhooks.settings import Webhooks
from printreach.ports import Clock
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.run.settings import Settings
from printreach.run.steady_clock import steady_time
from printreach.run.use_cases.core import CoreServices
from printreach.store.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookDependencies:
    """The dependencies of webhooks on the outside. doubt: shared by everything in this process."""

    sender: WebhookSender
    keys: WebhookKeys
    clock_history: ClockHistory = field(default_factory=lambda: ClockHistory(steady_time))


def open_webhook_dependencies(settings: Settings, ends: AsyncExitStack) -> WebhookDependencies:
    """Open the real ones; `ends` closes them. Raises WebhookKeysRefused."""
    lookups = Lookups()
    ends.push_async_callback(lookups.close)
    sender = WebhookHttp(lookups, settings.reach)
    ends.push_async_callback(sender.close)
    return WebhookDependencies(sender=sender, keys=open_webhook_keys(settings.data_dir))


def webhooks(core: CoreServices, dependencies: WebhookDependencies) -> Webhooks:
    """Build the use case in which apps configure their webhooks."""
    return Webhooks(
        store=core.store,
        clock=core.clock,
        token_bytes=core.token_bytes,
        sender=dependencies.sender,
        keys=dependencies.keys,
        addresses=core.settings.addresses,
        caller_tries=core.caller_tries,
    )


def webhook_enqueuer(
    settings: Settings, clock: Clock, clock_history: ClockHistory
) -> WebhookEnqueuer:
    """Build the consumer of events that enqueues deliveries."""
    return WebhookEnqueuer(
        clock=clock,
        supporters=settings.supporters,
        addresses=settings.addresses,
        clock_history=clock_history,
    )


def deliveries(
    settings: Settings, store: Store, clock: Clock, dependencies: WebhookDependencies
) -> Deliveries:
    """Build the sender of deliveries. Its close() ends attempts that are under way."""
    return Deliveries(
        store=store,
        clock=clock,
        sender=dependencies.sender,
        keys=dependencies.keys,
        supporters=settings.supporters,
        clock_history=dependencies.clock_history,
        jitter=random.SystemRandom().random,
        token_bytes=secrets.token_bytes,
    )
