"""The host that a TLS client asks for, read from the first bytes it sends.

OpenSSL reads them, as a server would: a parser of our own could be made to see another name than the server
at the other end sees.
"""

import ssl
from dataclasses import dataclass

LARGEST_CLIENT_HELLO = 65_536


@dataclass(frozen=True)
class ServerName:
    """What was asked for; None when the client named nothing."""

    host: str | None


class NotTls(Exception):
    """These bytes are not the beginning of a TLS connection."""


def read_server_name(received: bytes) -> ServerName | None:
    """None while the first message is not complete."""
    seen: list[ServerName] = []

    def note(_: ssl.SSLObject, host: str | None, __: ssl.SSLContext) -> int:
        seen.append(ServerName(host.lower() if host else None))
        return ssl.ALERT_DESCRIPTION_HANDSHAKE_FAILURE

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.sni_callback = note
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    incoming.write(received)
    try:
        context.wrap_bio(incoming, outgoing, server_side=True).do_handshake()
    except ssl.SSLWantReadError:
        return None
    except (ssl.SSLError, UnicodeError):
        pass
    if seen:
        return seen[0]
    raise NotTls
