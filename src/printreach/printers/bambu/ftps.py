"""A printer's file server: FTP inside TLS from the first byte. Blocking; files.py calls it."""

import ftplib
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from printreach.contract.commands import CommandStatus
from printreach.languages import N_, in_english
from printreach.printers.connecting import unverified_tls
from printreach.printers.port import PrinterRefused, failed

CONNECT_S = 8.0
TRANSFER_S = 20.0
"""A transfer without a byte for this long is aborted."""
GOODBYE_S = 3.0
"""The timeout for closing TLS on a data connection, which many of these servers never do."""
PIECE_BYTES = 64 * 1024
MAX_LISTING_BYTES = 4 * 1024 * 1024

_NOT_FOUND = "550"
_NOT_LOGGED_IN = ("530", "430")
_NOT_KNOWN = ("500", "502", "504")

VENDOR_FOLDERS = frozenset(
    {
        *("ipcam", "timelapse", "logger", "image", "corelogger", "recorder", "verify_job"),
        *("System Volume Information", "lost+found"),
    }
)
"""Folders at the top of the card with the printer's own files, which are no prints."""

_LIST = re.compile(
    r"(?P<mode>[-dlbcps][-rwxsStT]{9})[.+@]?\s+\d+\s+\S+\s+\S+\s+(?P<size>\d+)\s+"
    r"(?P<month>[A-Z][a-z]{2})\s+(?P<day>\d{1,2})\s+(?P<when>\d{4}|\d{1,2}:\d{2})\s(?P<name>.+)",
    re.ASCII,
)
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_A_DAY = timedelta(days=1)


class FileMissing(Exception):
    """There is nothing at this path, or it is of the other kind."""


class Ftps(ftplib.FTP_TLS):
    """A session. The data connection takes up the TLS session of the control connection, without
    which these servers refuse it."""

    def __init__(self) -> None:
        super().__init__(context=unverified_tls(), timeout=TRANSFER_S)

    def enter(self, host: str, port: int, user: str, password: str) -> None:
        plain = socket.create_connection((host, port), CONNECT_S)
        try:
            self.sock = self.context.wrap_socket(plain, server_hostname=host)
        except OSError:
            plain.close()
            raise
        self.host, self.port, self.af = host, port, self.sock.family
        self.file = self.sock.makefile("r", encoding=self.encoding, errors="surrogateescape")
        self.welcome = self.getresp()
        self.sock.settimeout(TRANSFER_S)
        self.login(user, password)
        self.prot_p()
        self.voidcmd("TYPE I")

    def ntransfercmd(
        self, cmd: str, rest: int | str | None = None
    ) -> tuple[socket.socket, int | None]:
        assert isinstance(self.sock, ssl.SSLSocket)  # since enter()
        data, size = super(ftplib.FTP_TLS, self).ntransfercmd(cmd, rest)
        try:
            secured = self.context.wrap_socket(
                data, server_hostname=self.host, session=self.sock.session
            )
        except OSError:
            data.close()
            raise
        return secured, size

    def listed(self, folder: str, now_s: float) -> "list[ListedEntry]":
        """Return what is in a folder. Raises FileMissing."""
        if folder:
            self._enter_folder(folder)
        try:
            lines = self._lines("MLSD")
        except ftplib.error_perm as exc:
            if not str(exc).startswith(_NOT_KNOWN):
                raise
            entries = [read_list(line, now_s) for line in self._lines("LIST")]
        else:
            entries = [read_mlsd(line) for line in lines]
        return [entry for entry in entries if entry is not None]

    def size_of(self, path: str) -> int | None:
        """Return a file's size in bytes; None if there is no file, or the server doesn't tell."""
        try:
            return self.size(path)
        except ftplib.error_perm:
            return None

    def read_range(self, path: str, offset: int, size: int) -> bytes:
        """Return some bytes of a file. The server's reply to a transfer cut short is ignored.

        Its silence is: then this is the last that the session is good for.
        """
        assert self.sock is not None  # since enter()
        data = self.transfercmd(f"RETR {path}", rest=offset or None)
        content = bytearray()
        try:
            while len(content) < size and (
                piece := data.recv(min(PIECE_BYTES, size - len(content)))
            ):
                content += piece
        finally:
            data.close()
        self.sock.settimeout(GOODBYE_S)
        try:
            self.voidresp()
        except ftplib.error_temp:
            pass  # "426 Transfer aborted", as it was
        self.sock.settimeout(TRANSFER_S)
        return bytes(content)

    def is_folder(self, path: str) -> bool:
        try:
            self._enter_folder(path)
        except FileMissing:
            return False
        return True

    def make_folder(self, path: str) -> None:
        """With the folders above it; those that are there are left as they are."""
        made = ""
        for part in path.split("/"):
            made = f"{made}/{part}"
            try:
                self.mkd(made)
            except ftplib.error_perm:
                if not self.is_folder(made):
                    raise

    def finish_sending(self, data: socket.socket) -> bool:
        """End a STOR; False where the server does not say that it has everything."""
        assert self.sock is not None  # since enter()
        if not self._close_tls(data):
            self.sock.settimeout(GOODBYE_S)  # it may hang here as well
        try:
            self.voidresp()
        except (OSError, EOFError, ftplib.error_temp):
            return False
        return True

    def leave(self) -> None:
        try:
            self.quit()
        except (OSError, EOFError, ftplib.Error):
            pass  # it has gone before
        finally:
            self.close()

    def _enter_folder(self, path: str) -> None:
        try:
            self.cwd(f"/{path.strip('/')}")
        except ftplib.error_perm as exc:
            raise FileMissing from exc

    def _lines(self, command: str) -> list[str]:
        data = self.transfercmd(command)
        text = bytearray()
        try:
            while piece := data.recv(PIECE_BYTES):
                text += piece
                if len(text) > MAX_LISTING_BYTES:
                    raise failed(N_("A folder on the printer's card holds too many files."))
        finally:
            data.close()
        self.voidresp()
        return bytes(text).decode(errors="surrogateescape").splitlines()

    def _close_tls(self, data: socket.socket) -> bool:
        """Close TLS; True where the server does the same."""
        assert isinstance(data, ssl.SSLSocket)  # of ntransfercmd
        data.settimeout(GOODBYE_S)
        try:
            data.unwrap()
        except (OSError, ValueError):
            return False
        finally:
            data.close()
        return True


@contextmanager
def as_refusals(where: str) -> Iterator[None]:
    """Turn errors of the file server and the network into PrinterRefused.

    FileMissing passes through.
    """
    try:
        yield
    except ftplib.error_perm as exc:
        words = str(exc)
        if words.startswith(_NOT_LOGGED_IN):
            sentence = in_english(
                "The file server of the printer at %(where)s refuses the access code.", where=where
            )
            raise PrinterRefused(CommandStatus.NOT_AUTHORIZED, sentence) from exc
        if words.startswith(_NOT_FOUND):
            raise FileMissing from exc
        raise failed(
            in_english("The printer's file server refused: %(words)s.", words=words[:200])
        ) from exc
    except ftplib.Error as exc:
        raise failed(
            in_english("The printer's file server refused: %(words)s.", words=str(exc)[:200])
        ) from exc
    except (OSError, EOFError) as exc:
        why = (isinstance(exc, OSError) and exc.strerror) or N_("it gives no answer")
        sentence = in_english(
            "The file server of the printer at %(where)s can't be reached: %(why)s.",
            where=where,
            why=why,
        )
        raise PrinterRefused(CommandStatus.NOT_CONNECTED, sentence) from exc


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedEntry:
    """An entry of a folder. modified_s: Unix time, 0 when unknown."""

    name: str
    is_folder: bool
    size: int = 0
    modified_s: float = 0.0


def read_mlsd(line: str) -> ListedEntry | None:
    """`type=file;size=5;modify=20260101120000; name`; None for what is no file or folder."""
    facts_text, blank, name = line.partition(" ")
    facts = {
        key.lower(): value
        for key, equals, value in (fact.partition("=") for fact in facts_text.split(";"))
        if equals
    }
    kind = facts.get("type", "").lower()
    if not blank or kind not in ("file", "dir") or not _is_name(name):
        return None
    return ListedEntry(
        name=name,
        is_folder=kind == "dir",
        size=_number(facts.get("size", "")),
        modified_s=_seconds(facts.get("modify", "")),
    )


def read_list(line: str, now_s: float) -> ListedEntry | None:
    """Parse a line as `ls -l` writes it. now_s: gives the year of a date that comes without."""
    entry = _LIST.fullmatch(line)
    if entry is None or entry["mode"][0] not in "-d" or not _is_name(entry["name"]):
        return None
    return ListedEntry(
        name=entry["name"],
        is_folder=entry["mode"][0] == "d",
        size=_number(entry["size"]),
        modified_s=_list_seconds(entry["month"], entry["day"], entry["when"], now_s),
    )


def _is_name(name: str) -> bool:
    """Return whether a name can stand in a virtual path."""
    return name not in ("", ".", "..") and not any(
        sign in "/\\" or sign < " " or sign == "\x7f" or "\ud800" <= sign <= "\udfff"
        for sign in name
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _seconds(text: str) -> float:
    try:
        return datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _list_seconds(month: str, day: str, when: str, now_s: float) -> float:
    if month not in _MONTHS:
        return 0.0
    number = _MONTHS.index(month) + 1
    try:
        if ":" not in when:
            return datetime(int(when), number, int(day), tzinfo=UTC).timestamp()
        hour, minute = (int(part) for part in when.split(":"))
        now = datetime.fromtimestamp(now_s, UTC)
        then = datetime(now.year, number, int(day), hour, minute, tzinfo=UTC)
        if then > now + _A_DAY:
            then = then.replace(year=now.year - 1)
        return then.timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
