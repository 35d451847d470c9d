"""Composition of webhooks: their HTTP client and signing keys, for the web role and the worker."""

import random
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from printreach.backends.lookups import Lookups
from printreach.backends.webhook_http import WebhookHttp
from printreach.backends.webhook_keys import open_webhook_keys
from printreach.hub.clock_jumps import ClockHistory
from printreach.hub.core import Core
from printreach.hub.webhooks.deliveries import Deliveries
from printreach.ports.webhooks import WebhookKeys, WebhookSender
from printreach.run.settings import Settings
from printreach.run.steady_clock import steady_time


@dataclass(frozen=True, kw_only=True, slots=True)
class WebhookDependencies:
    """The dependencies of webhooks on the outside. clock_history: one for the process."""

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


def deliveries(core: Core, dependencies: WebhookDependencies) -> Deliveries:
    """Build the sender of deliveries. Its close() ends attempts that are under way."""
    return Deliveries(
        core=core,
        sender=dependencies.sender,
        keys=dependencies.keys,
        clock_history=dependencies.clock_history,
        jitter=random.SystemRandom().random,
    )
