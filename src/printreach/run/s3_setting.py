"""The setting that names an S3 bucket for pictures."""

import re
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from printreach.rules.prints.snapshots import S3Bucket
from printreach.run.setting_values import WrongValue

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
