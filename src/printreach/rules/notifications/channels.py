"""The ways a person can be told, and the addresses that are made of what they type.

An address is one of Apprise: `ntfys://ntfy.sh/topic`. It holds secrets, so it is stored sealed and
never shown again; what a page shows is the label.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import quote, urlsplit

from printreach.languages import N_

LONGEST_URL: Final = 1024
LONGEST_FIELD: Final = 300
MAIL: Final = "mail"
"""The account's own address, by the service's own mails."""
PUSH: Final = "push"
"""A browser that subscribed itself; nothing is typed for it."""
_NTFY_CLOUD: Final = "ntfy.sh"
_HOST: Final = re.compile(r"[A-Za-z0-9._-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class ChannelField:
    """One thing to type. secret: it is not shown while it is typed."""

    name: str
    label: str
    hint: str = ""
    placeholder: str = ""
    required: bool = True
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to be told."""

    name: str
    title: str
    fields: tuple[ChannelField, ...] = ()
    hint: str = ""


CHANNELS: Final = (
    Channel(MAIL, N_("E-mail"), hint=N_("To the address of your account.")),
    Channel(
        "ntfy",
        "ntfy",
        (
            ChannelField("topic", N_("Topic"), placeholder="my-printers-x7f3"),
            ChannelField(
                "server",
                N_("Server"),
                N_("%(server)s if empty", server=_NTFY_CLOUD),
                _NTFY_CLOUD,
                required=False,
            ),
            ChannelField(
                "token", N_("Access token"), N_("Only for protected topics"), "", False, True
            ),
        ),
        N_("Anyone who knows an open topic can read it: choose one that is hard to guess."),
    ),
    Channel(
        "telegram",
        "Telegram",
        (
            ChannelField(
                "token",
                N_("Token of your bot"),
                N_("From @BotFather"),
                "123456789:AA…",
                secret=True,
            ),
            ChannelField("chat", N_("Chat ID"), N_("A number, or a channel's name")),
        ),
    ),
    Channel(
        "discord",
        "Discord",
        (
            ChannelField(
                "url",
                N_("Webhook URL"),
                N_("Channel settings, Integrations, Webhooks"),
                secret=True,
            ),
        ),
    ),
    Channel(
        "pushover",
        "Pushover",
        (
            ChannelField("user", N_("User key"), secret=True),
            ChannelField("token", N_("Application token"), secret=True),
        ),
    ),
    Channel(
        "slack",
        "Slack",
        (
            ChannelField(
                "url", N_("Incoming webhook URL"), N_("From your Slack app's page"), secret=True
            ),
        ),
    ),
    Channel(
        "matrix",
        "Matrix",
        (
            ChannelField("server", N_("Home server"), placeholder="matrix.org"),
            ChannelField(
                "token", N_("Access token"), N_("Of an account that is in the room"), secret=True
            ),
            ChannelField("room", N_("Room"), N_("Its address or its ID"), "#printers:matrix.org"),
        ),
    ),
    Channel(
        "gotify",
        "Gotify",
        (
            ChannelField("server", N_("Server"), placeholder="gotify.example.org"),
            ChannelField("token", N_("Application token"), secret=True),
        ),
    ),
    Channel(
        "apprise",
        N_("Another service"),
        (ChannelField("url", "Apprise URL", N_("See Apprise's documentation"), "", True, True),),
        N_("For Mattermost, Zulip, Signal, Twilio and others."),
    ),
)
"""The channels that a person chooses from, and types something for."""
PUSH_CHANNEL: Final = Channel(PUSH, N_("Browser"))
CHANNEL_BY_NAME: Final[Mapping[str, Channel]] = MappingProxyType(
    {channel.name: channel for channel in (*CHANNELS, PUSH_CHANNEL)}
)


def reaches_people(channel: str, *, has_mail_server: bool) -> bool:
    """Whether messages of that channel can arrive. way: the name of the channel, as stored."""
    return channel != MAIL or has_mail_server


@dataclass(frozen=True, slots=True)
class DestinationAddress:
    """A configured use of a channel. label: distinguishes it from others, without a secret."""

    url: str
    label: str


@dataclass(frozen=True, slots=True)
class InvalidField:
    """A typed value is refused. field: its name."""

    field: str
    sentence: str


TypedFields = Mapping[str, str]


def parse_destination(channel: Channel, typed: TypedFields) -> DestinationAddress | InvalidField:
    """Make an address of what was typed. Whether it may be reached is not known yet."""
    for field in channel.fields:
        text = typed.get(field.name, "").strip()
        if field.required and not text:
            return InvalidField(field.name, N_("Enter this: %(label)s.", label=field.label))
        if len(text) > (LONGEST_URL if field.name == "url" else LONGEST_FIELD):
            return InvalidField(field.name, N_("That is too long: %(label)s.", label=field.label))
        if not text.isprintable():
            return InvalidField(
                field.name, N_("Enter this on one line: %(label)s.", label=field.label)
            )
    cleaned = {field.name: typed.get(field.name, "").strip() for field in channel.fields}
    return _PARSERS[channel.name](cleaned)


def _ntfy(typed: TypedFields) -> DestinationAddress | InvalidField:
    server = _host(typed["server"] or _NTFY_CLOUD)
    if server is None:
        return _wrong_server()
    topic = typed["topic"]
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", topic):
        return InvalidField("topic", N_("Use letters, digits, hyphens and underscores only."))
    token = f"{quote(typed['token'], safe='')}@" if typed["token"] else ""
    url = f"{server.scheme('ntfy')}://{token}{server.host}/{topic}"
    mode = "?mode=private" + ("&auth=token" if token else "")
    return DestinationAddress(
        url + mode, N_("%(topic)s on %(host)s", topic=topic, host=server.host)
    )


def _telegram(typed: TypedFields) -> DestinationAddress | InvalidField:
    if not re.fullmatch(r"[0-9]{6,12}:[A-Za-z0-9_-]{30,50}", typed["token"]):
        return InvalidField("token", N_("A bot's token looks like 123456789:AAbbcc…."))
    chat = typed["chat"]
    if not re.fullmatch(r"-?[0-9]{1,20}|@?[A-Za-z][A-Za-z0-9_]{3,40}", chat):
        return InvalidField("chat", N_("A chat ID is a number, or the name of a channel."))
    return DestinationAddress(
        f"tgram://{typed['token']}/{quote(chat, safe='-')}", N_("chat %(chat)s", chat=chat)
    )


def _discord(typed: TypedFields) -> DestinationAddress | InvalidField:
    found = re.fullmatch(
        r"https://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/([0-9]{5,25})/([A-Za-z0-9_-]{10,120})/?",
        typed["url"],
    )
    if found is None:
        return InvalidField(
            "url", N_("A webhook's address begins with https://discord.com/api/webhooks/.")
        )
    return DestinationAddress(
        f"discord://{found[1]}/{found[2]}", N_("webhook %(found)s", found=found[1])
    )


def _pushover(typed: TypedFields) -> DestinationAddress | InvalidField:
    for name, label in (("user", "A user key"), ("token", N_("An application token"))):
        if not re.fullmatch(r"[A-Za-z0-9]{30}", typed[name]):
            return InvalidField(name, N_("%(label)s has 30 letters and digits.", label=label))
    return DestinationAddress(f"pover://{typed['user']}@{typed['token']}", "your devices")


def _slack(typed: TypedFields) -> DestinationAddress | InvalidField:
    found = re.fullmatch(
        r"https://hooks\.slack\.com/services/([A-Z0-9]{6,20})/([A-Z0-9]{6,20})/([A-Za-z0-9]{12,40})/?",
        typed["url"],
    )
    if found is None:
        return InvalidField("url", N_("It begins with https://hooks.slack.com/services/."))
    return DestinationAddress(
        f"slack://{found[1]}/{found[2]}/{found[3]}", N_("webhook %(found)s", found=found[2])
    )


def _matrix(typed: TypedFields) -> DestinationAddress | InvalidField:
    server = _host(typed["server"])
    if server is None:
        return _wrong_server()
    if not re.fullmatch(r"[#!][^/?&\s]{1,250}", typed["room"]):
        return InvalidField("room", N_("A room's address begins with # and its ID with !."))
    token, room = quote(typed["token"], safe=""), quote(typed["room"], safe="")
    url = f"{server.scheme('matrix')}://{token}@{server.host}/{room}"
    return DestinationAddress(
        url, N_("%(typed)s on %(host)s", typed=typed["room"], host=server.host)
    )


def _gotify(typed: TypedFields) -> DestinationAddress | InvalidField:
    server = _host(typed["server"])
    if server is None:
        return _wrong_server()
    if not re.fullmatch(r"[A-Za-z0-9._-]{10,60}", typed["token"]):
        return InvalidField("token", N_("An application token has letters, digits and dots."))
    url = f"{server.scheme('gotify')}://{server.host}/{typed['token']}"
    return DestinationAddress(url, N_("app on %(host)s", host=server.host))


def _apprise(typed: TypedFields) -> DestinationAddress | InvalidField:
    scheme, separator, rest = typed["url"].partition("://")
    if not separator or not rest:
        return InvalidField("url", N_("The address begins with the service, like ntfys://."))
    scheme = scheme.lower()
    label = SCHEMES.get(f"{scheme}s" if scheme in PLAIN_SCHEMES else scheme)
    if label is None:
        return InvalidField("url", N_("This service can't be used here."))
    return DestinationAddress(f"{scheme}://{rest}", label)


@dataclass(frozen=True, slots=True)
class _Server:
    host: str
    is_plain: bool

    def scheme(self, name: str) -> str:
        return name if self.is_plain else f"{name}s"


def _host(typed: str) -> _Server | None:
    """A host as people paste it: with https:// before or a slash after it."""
    text = typed.strip()
    if "://" not in text:
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or parts.path not in ("", "/") or parts.query:
        return None
    if not _HOST.fullmatch(parts.netloc) or not parts.hostname:
        return None
    return _Server(parts.netloc.lower(), is_plain=parts.scheme == "http")


def _wrong_server() -> InvalidField:
    return InvalidField("server", N_("Type a server's name, such as ntfy.example.org."))


_PARSERS: Final[Mapping[str, Callable[[TypedFields], DestinationAddress | InvalidField]]] = (
    MappingProxyType(
        {
            MAIL: lambda _: DestinationAddress("", "your e-mail address"),
            "ntfy": _ntfy,
            "telegram": _telegram,
            "discord": _discord,
            "pushover": _pushover,
            "slack": _slack,
            "matrix": _matrix,
            "gotify": _gotify,
            "apprise": _apprise,
        }
    )
)

SCHEMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "barks": "Bark",
        "discord": "Discord",
        "gchat": "Google Chat",
        "gotifys": "Gotify",
        "guilded": "Guilded",
        "ifttt": "IFTTT",
        "join": "Join",
        "line": "Line",
        "mailtos": "E-mail",
        "mastodons": "Mastodon",
        "matrixs": "Matrix",
        "mmosts": "Mattermost",
        "nctalks": "Nextcloud Talk",
        "nexmo": "Vonage",
        "ntfys": "ntfy",
        "onesignal": "OneSignal",
        "opsgenie": "Opsgenie",
        "pagerduty": "PagerDuty",
        "pbul": "Pushbullet",
        "pover": "Pushover",
        "prowl": "Prowl",
        "psafers": "Pushsafer",
        "pushed": "Pushed",
        "pushy": "Pushy",
        "rockets": "Rocket.Chat",
        "signals": "Signal",
        "slack": "Slack",
        "spush": "Simplepush",
        "synologys": "Synology Chat",
        "tgram": "Telegram",
        "threema": "Threema",
        "twilio": "Twilio",
        "vonage": "Vonage",
        "wxteams": "Webex",
        "zulip": "Zulip",
    }
)
"""Apprise has more. These speak TLS to a host of their own or a public one, and touch no file."""

PLAIN_SCHEMES: Final = frozenset({"ntfy", "gotify", "matrix"})
"""The same without TLS; only to private addresses that the operator allows."""


def may_be_used(url: str, *, allow_plain: bool) -> bool:
    """Whether an address is of a service on the list."""
    return url.partition("://")[0] in SCHEMES or (allow_plain and is_plain(url))


def is_plain(url: str) -> bool:
    """Whether a service is spoken to without TLS."""
    return url.partition("://")[0] in PLAIN_SCHEMES
