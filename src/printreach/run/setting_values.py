"""Parsers of single settings. Each takes the text and returns its value.

Each raises WrongValue with the rest of a sentence that begins with the setting's name.
"""

import ipaddress
import re
from decimal import Decimal
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from printreach.ports.mqtt import MqttAddress, read_mqtt_url
from printreach.rules.accounts import SignUpPolicy, SupporterPolicy
from printreach.rules.apps.registration import AppPolicy
from printreach.rules.detection.usage import Tier, problem_with_tiers
from printreach.rules.prints.snapshots import S3Bucket
from printreach.rules.public_addresses import PRIVATE_NETWORKS

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_LABEL: Final = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
_DOMAIN: Final = re.compile(rf"({_LABEL}(?:\.{_LABEL})*)(?::([0-9]{{1,5}}))?")
_PORTS: Final = re.compile(r"([0-9]{1,5})\s*-\s*([0-9]{1,5})")
_FIELD_NAME: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_SWITCH: Final = dict.fromkeys(("true", "1", "yes", "on"), True)
_SWITCH.update(dict.fromkeys(("false", "0", "no", "off"), False))
_LONGEST_ISSUER: Final = 512
_LONGEST_NAME: Final = 40
_LONGEST_HOST: Final = 253 - len("shared-") - 32 - len(".")
"""A tunnel domain gets a connection's name in front, and DNS ends at 253 characters."""


class WrongValue(ValueError):
    """The value is wrong; the message is the rest of a sentence that begins with the setting's
    name.
    """


def read_address(text: str) -> tuple[str, int]:
    """Parse `HOST:PORT`; an IPv6 address is in brackets, and port 0 means any free port."""
    host, _, port = text.rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    bare = host[1:-1] if is_bracketed else host
    number = _port(port, lowest=0)
    if not _is_host(bare.lower()) or number is None or is_bracketed is not (":" in bare):
        raise WrongValue(f"is {text!r}, which is not HOST:PORT.")
    return bare, number


def read_base_url(text: str) -> str:
    """Parse `http(s)://HOST[:PORT]`; return it in lower case without a trailing slash."""
    try:
        parts = urlsplit(text.lower())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise WrongValue(f"is {text!r}, which is not an address.") from None
    if parts.scheme not in ("http", "https") or not host or not _is_host(host):
        raise WrongValue(f"is {text!r}, which is not http://HOST or https://HOST.")
    if parts.username is not None or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise WrongValue("may hold a scheme, a host and a port, and nothing else.")
    return f"{parts.scheme}://{parts.netloc}"


def read_domain(text: str) -> str:
    """Parse `HOST[:PORT]`; return it in lower case. It must be a name, since connections get
    subdomains.
    """
    domain = text.lower().rstrip(".")
    match = _DOMAIN.fullmatch(domain)
    if match is None or _is_ip(match[1]) or len(match[1]) > _LONGEST_HOST:
        raise WrongValue(f"is {text!r}, which is not a host name, with or without a port.")
    if match[2] is not None and _port(match[2], lowest=1) is None:
        raise WrongValue(f"is {text!r}, whose port is not between 1 and 65535.")
    return domain


def read_ports(text: str) -> range:
    """Parse `LOWEST-HIGHEST`; the empty text means none."""
    if not text:
        return range(0)
    match = _PORTS.fullmatch(text)
    lowest, highest = (_port(end, lowest=1) for end in match.groups()) if match else (None, None)
    if lowest is None or highest is None or lowest > highest:
        raise WrongValue(f"is {text!r}, which is not a range of ports such as 18000-18099.")
    return range(lowest, highest + 1)


def read_networks(text: str) -> tuple[Network, ...]:
    """Parse networks or single addresses, separated by commas or blanks."""
    return tuple(_network(part) for part in re.split(r"[,\s]+", text) if part)


def read_stripe_key(text: str) -> str:
    """Parse a secret or restricted key of Stripe. Error messages never repeat it."""
    if text and not re.fullmatch(r"[sr]k_[A-Za-z0-9_]{8,250}", text):
        raise WrongValue("is not a secret key of Stripe: those begin with sk_ or rk_.")
    return text


def read_stripe_webhook_secret(text: str) -> str:
    """Parse the secret with which Stripe signs its webhooks. Error messages never repeat it."""
    if text and not re.fullmatch(r"whsec_[A-Za-z0-9+/=_-]{8,250}", text):
        raise WrongValue("is not the signing secret of a webhook: those begin with whsec_.")
    return text


def read_stripe_prices(text: str) -> tuple[str, ...]:
    """Parse price ids, separated by commas or blanks."""
    prices = tuple(part for part in re.split(r"[,\s]+", text) if part)
    for price in prices:
        if not re.fullmatch(r"price_[A-Za-z0-9_]{1,250}", price):
            raise WrongValue(f"holds {price[:80]!r}, which is no price of Stripe: price_….")
    return prices


def read_supporters(text: str) -> SupporterPolicy:
    """Parse `everyone` or `granted`."""
    try:
        return SupporterPolicy(text.lower())
    except ValueError:
        choice = " or ".join(SupporterPolicy)
        raise WrongValue(f"is {text!r}, which is not {choice}.") from None


def read_sign_up(text: str) -> SignUpPolicy:
    """Parse `open`, `invited` or `closed`."""
    try:
        return SignUpPolicy(text.lower())
    except ValueError:
        raise WrongValue(f"is {text!r}, which is not {' or '.join(SignUpPolicy)}.") from None


def read_switch(text: str) -> bool:
    """Parse `true` or `false`, or another common pair of words."""
    try:
        return _SWITCH[text.lower()]
    except KeyError:
        raise WrongValue(f"is {text!r}, which is neither true nor false.") from None


def read_field_name(text: str) -> bytes:
    """Parse the name of a header field, such as X-Request-Id; return it in lower case."""
    if text and _FIELD_NAME.fullmatch(text) is None:
        raise WrongValue(f"is {text!r}, which is no name of a header field.")
    return text.lower().encode()


def read_private_networks(text: str) -> tuple[Network, ...]:
    """Parse `true` for all private networks and this machine, `false` for none, or a list of
    networks.
    """
    if text.lower() in _SWITCH:
        return PRIVATE_NETWORKS if _SWITCH[text.lower()] else ()
    try:
        return read_networks(text)
    except WrongValue as wrong:
        raise WrongValue(f"is neither true nor false, and {wrong}") from None


def read_count(text: str) -> int:
    """Parse a whole number, 0 or more."""
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise WrongValue(f"is {text!r}, which is not a whole number.")
    return int(text)


def read_smtp_url(text: str) -> str | None:
    """Parse `smtp(s)://[USER:PASSWORD@]HOST[:PORT][?from=ADDRESS]`.

    Error messages never repeat the password.
    """
    if not text:
        return None
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("smtp", "smtps") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise WrongValue("is not an address such as smtp://user:password@host:587.")
    return text


def read_issuer(text: str) -> str:
    """Parse `https://HOST[:PORT][/PATH]` and keep it exactly; http is allowed for this machine
    only.
    """
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise WrongValue(f"is {text!r}, which is not an address.") from None
    if parts.scheme not in ("http", "https") or not _is_host(host) or len(text) > _LONGEST_ISSUER:
        raise WrongValue(f"is {text!r}, which is not an address such as https://id.example.com.")
    if parts.scheme == "http" and not _is_this_machine(host):
        raise WrongValue("begins with http:, which is only for a provider on this machine.")
    if parts.username is not None or parts.query or parts.fragment or not _is_one_line(text):
        raise WrongValue("may hold a scheme, a host, a port and a path, and nothing else.")
    return text


def read_secret(text: str) -> str:
    """Parse printable ASCII as in RFC 6749, A.1. Error messages never repeat it."""
    if not text.isascii() or not text.isprintable():
        raise WrongValue("holds a character that is not printable ASCII.")
    return text


def read_token(text: str) -> str:
    """Parse a secret for a header, long enough not to be guessed. Error messages never repeat
    it.
    """
    if text and not re.fullmatch(r"[A-Za-z0-9._~+/=-]{24,256}", text):
        raise WrongValue("is not 24 to 256 letters and digits; `openssl rand -hex 32` makes one.")
    return text


def read_base_urls(text: str) -> tuple[str, ...]:
    """Parse addresses as read_base_url does, without duplicates, separated by commas or blanks."""
    return tuple(dict.fromkeys(read_base_url(part) for part in re.split(r"[,\s]+", text) if part))


def read_optional_address(text: str) -> tuple[str, int] | None:
    """Parse an address as read_address does; None for the empty text."""
    return read_address(text) if text else None


def read_name(text: str) -> str:
    """Parse the label of a button."""
    if len(text) > _LONGEST_NAME or not text.isprintable():
        raise WrongValue(f"is {text[:80]!r}; a name has at most {_LONGEST_NAME} letters.")
    return text


def read_database_url(text: str) -> str:
    """Parse `postgresql://[USER:PASSWORD@][HOST[:PORT]]/NAME[?OPTIONS]`, as libpq does. Error
    messages never repeat the text, since it holds a password.
    """
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("postgresql", "postgres") and parts.port != 0
    except ValueError:
        parts, is_good = urlsplit(""), False
    if text and not (is_good and len(parts.path) > 1 and not parts.fragment):
        raise WrongValue("is not an address such as postgresql://user:password@host/name.")
    return text


def read_nats_urls(text: str) -> tuple[str, ...]:
    """Parse `nats://[USER:PASSWORD@]HOST[:PORT]`, percent-encoded as needed, `tls://` for TLS;
    several of one cluster are separated by commas or blanks. Error messages never repeat the text,
    since it holds a password.
    """
    urls = tuple(part for part in re.split(r"[,\s]+", text) if part)
    if not all(map(_is_nats_url, urls)):
        raise WrongValue("is not an address such as nats://user:password@nats.example.com:4222.")
    return urls


def read_node_url(text: str) -> str:
    """Parse `ws://HOST:PORT` or `wss://HOST:PORT`; the empty text means none."""
    scheme, _, authority = text.lower().partition("://")
    if not text:
        return ""
    if scheme not in ("ws", "wss") or read_address(authority)[1] == 0:
        raise WrongValue(f"is {text!r}, which is not an address such as ws://10.0.0.5:8090.")
    return f"{scheme}://{authority}"


def _is_nats_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in ("nats", "tls") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return is_good and parts.path in ("", "/") and not parts.query and not parts.fragment


def _port(text: str, *, lowest: int) -> int | None:
    if not re.fullmatch(r"[0-9]{1,5}", text):
        return None
    return int(text) if lowest <= int(text) <= 65535 else None


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise WrongValue(f"holds {text!r}, which is not a network: {error}.") from None


def _is_host(host: str) -> bool:
    match = _DOMAIN.fullmatch(host)
    return (match is not None and match[2] is None) or _is_ip(host)


def _is_this_machine(host: str) -> bool:
    if not _is_ip(host):
        return host == "localhost" or host.endswith(".localhost")
    return ipaddress.ip_address(host).is_loopback


def _is_one_line(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


_EXAMPLE: Final = "https://id:key@s3.example.com/bucket?region=eu-central-1"
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_FOLDER: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_REGION: Final = re.compile(r"[a-z0-9-]{1,40}")


def read_s3_place(text: str) -> S3Bucket | None:
    """Parse `http(s)://KEY:SECRET@HOST[:PORT]/BUCKET[/FOLDER][?region=REGION]`.

    Error messages never repeat the text, since it holds a secret.
    """
    if not text:
        return None
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise WrongValue(f"is not an address such as {_EXAMPLE}.") from None
    _, bucket, *folders = [*parts.path.rstrip("/").split("/"), ""]
    folders = [folder for folder in folders if folder]
    region = parse_qs(parts.query).get("region", ["us-east-1"])[0]
    is_good = (
        parts.scheme in ("http", "https")
        and host
        and parts.username
        and parts.password
        and _BUCKET.fullmatch(bucket)
        and all(map(_FOLDER.fullmatch, folders))
        and _REGION.fullmatch(region)
    )
    if not is_good:
        raise WrongValue(f"is not an address such as {_EXAMPLE}.")
    in_url = f"[{host}]" if ":" in host else host
    return S3Bucket(
        endpoint=f"{parts.scheme}://{in_url}" + (f":{port}" if port else ""),
        bucket=bucket,
        prefix="".join(f"{folder}/" for folder in folders),
        region=region,
        key_id=unquote(parts.username or ""),
        secret=unquote(parts.password or ""),
    )


DEFAULT_PRICES: Final = "1000000:0.0004 20000000:0.00025 0.00015"
"""US dollars per call: up to a number of calls in a month, and beyond it."""

_TIER: Final = re.compile(r"(?:([0-9]{1,15}):)?([0-9]{1,6}(?:\.[0-9]{1,9})?)")


def read_app_policy(text: str) -> AppPolicy:
    """Parse `open` or `operators`."""
    try:
        return AppPolicy(text.lower())
    except ValueError:
        raise WrongValue(f"is {text!r}, which is not {' or '.join(AppPolicy)}.") from None


def read_prices(text: str) -> tuple[Tier, ...]:
    """Parse `CALLS:USD … USD`, separated by commas or blanks; amounts are kept as exact
    decimals.
    """
    tiers = tuple(_tier(part) for part in re.split(r"[,\s]+", text) if part)
    problem = problem_with_tiers(tiers)
    if problem is not None:
        raise WrongValue(f"{problem}, as in {DEFAULT_PRICES}.")
    return tiers


def _tier(text: str) -> Tier:
    match = _TIER.fullmatch(text)
    if match is None:
        raise WrongValue(f"holds {text!r}, which is no price such as 1000000:0.0004.")
    return Tier(int(match[1]) if match[1] else None, Decimal(match[2]))


def read_broker(text: str) -> MqttAddress | None:
    """Parse `mqtt://` or `mqtts://` with optional user and password; None for the empty text."""
    try:
        return read_mqtt_url(text) if text else None
    except ValueError:
        # The text holds a password, so it isn't repeated.
        raise WrongValue(
            "is not the address of a broker, such as mqtts://user:password@mqtt.example:8883."
        ) from None
