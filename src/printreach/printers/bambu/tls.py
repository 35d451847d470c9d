"""TLS as printers do it: with a certificate that proves nothing, but names the printer."""

import asyncio
import ssl

from cryptography import x509
from cryptography.x509.oid import NameOID

from printreach.printers.connecting import MAX_MQTT_MESSAGE_BYTES, unverified_tls

CONNECT_S = 8.0


class BoundedSocket(ssl.SSLSocket):
    """Refuses to wait for a longer message.

    paho-mqtt has no limit of its own; once it knows a message's length it asks for that many bytes.
    """

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        if buflen > MAX_MQTT_MESSAGE_BYTES:
            raise OSError(f"a message of {buflen} bytes was announced")
        return super().recv(buflen, flags)


async def certificate_name(host: str, port: int) -> str | None:
    """Return the common name of the printer's certificate, which is its serial number.

    Raises OSError or TimeoutError when there is no answer.
    """
    async with asyncio.timeout(CONNECT_S):
        _, writer = await asyncio.open_connection(host, port, ssl=unverified_tls())
    try:
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        names = x509.load_der_x509_certificate(shown).subject.get_attributes_for_oid(
            NameOID.COMMON_NAME
        )
    except ValueError:
        return None
    finally:
        writer.close()
    return str(names[0].value) if names else None
