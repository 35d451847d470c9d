"""The printer's SD card behind implicit FTPS, made of pyftpdlib."""

import logging
import threading
from pathlib import Path
from typing import Any, ClassVar

from OpenSSL import SSL
from pyftpdlib.authorizers import (  # type: ignore[import-untyped]  # it has no types
    DummyAuthorizer,
)
from pyftpdlib.handlers import (  # type: ignore[import-untyped]  # it has no types
    TLS_DTPHandler,
    TLS_FTPHandler,
)
from pyftpdlib.ioloop import IOLoop  # type: ignore[import-untyped]  # it has no types
from pyftpdlib.servers import FTPServer  # type: ignore[import-untyped]  # it has no types

_OPENSSL: Any = vars(SSL)["_lib"]  # its bindings know of reused sessions; its API does not

logging.getLogger("pyftpdlib").setLevel(logging.ERROR)


class _Data(TLS_DTPHandler):  # type: ignore[misc]  # pyftpdlib has no types
    """A data connection, which has to take up the session of the control connection."""

    def handle_ssl_established(self) -> None:
        super().handle_ssl_established()
        card: Card = self.cmd_channel.card
        card.reused.append(bool(_OPENSSL.SSL_session_reused(self.socket._ssl)))

    def _do_ssl_shutdown(self) -> None:
        """Some firmware never ends TLS on its side."""
        if not self.cmd_channel.card.hangs_at_the_end:
            super()._do_ssl_shutdown()
        elif self.file_obj is not None and not self.file_obj.closed:
            self.file_obj.flush()


class _Control(TLS_FTPHandler):  # type: ignore[misc]  # pyftpdlib has no types
    """TLS from the first byte."""

    card: ClassVar["Card"]
    dtp_handler = _Data

    def handle(self) -> None:
        self.secure_connection(self.ssl_context)

    def handle_ssl_established(self) -> None:
        super().handle()


class Card:
    """folder: what is on it. hangs_at_the_end: a fault of some firmware.

    reused: of each data connection, whether it took up a session that was there.
    """

    def __init__(self, folder: Path, certificate: Path, key: Path, user: str, code: str) -> None:
        self.folder = folder
        self.hangs_at_the_end = False
        self.reused: list[bool] = []
        authorizer = DummyAuthorizer()
        authorizer.add_user(user, code, str(folder), perm="elradfmw")
        settings: dict[str, Any] = {
            "card": self,
            "certfile": str(certificate),
            "keyfile": str(key),
            "authorizer": authorizer,
            "tls_control_required": True,
            "tls_data_required": True,
            "auth_failed_timeout": 0,
            "proto_cmds": dict(TLS_FTPHandler.proto_cmds),
            "ssl_context": None,
        }
        self._handler: Any = type("Control", (_Control,), settings)
        # A loop of its own: the shared one ends for all with the first card that closes.
        self._server = FTPServer(("127.0.0.1", 0), self._handler, ioloop=IOLoop())
        self._closing = threading.Event()
        self.port = int(self._server.address[1])
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def list_the_old_way(self, *, really: bool) -> None:
        """Without MLSD."""
        commands = dict(TLS_FTPHandler.proto_cmds)
        if really:
            del commands["MLSD"]
        self._handler.proto_cmds = commands

    def read(self, path: str) -> bytes | None:
        file = self.folder / path
        return file.read_bytes() if file.is_file() else None

    def close(self) -> None:
        self._closing.set()
        self._thread.join(5)

    def _serve(self) -> None:
        while not self._closing.is_set():
            self._server.serve_forever(timeout=0.05, blocking=False, handle_exit=False)
        self._server.close_all()
