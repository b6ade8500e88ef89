"""Asking a tool which hosts it uses by letting it try: it runs on a project of ours, and gets nothing.

Its own configuration and its own defaults decide whom it asks, so no list of ours can be wrong or out of
date. The project is empty but for one package that does not exist, and the proxy that it finds refuses all.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import h11
import structlog

from journeyman.environments.egress.indexes import PackageIndex, parse_index
from journeyman.environments.egress.rules import RegistryKind
from journeyman.environments.egress.variables import java_options

_SECONDS = 60.0
_LARGEST_HEAD = 65_536
_LARGEST_OUTPUT = 4_000_000
_log = structlog.get_logger()


async def run_tool(
    command: Sequence[str], *, directory: Path, variables: Mapping[str, str] | None = None
) -> str | None:
    """What a tool of this machine prints; None when it fails or takes too long.

    It runs in an empty directory: files of a repository have no say in it.
    """
    assigned = [f"{name}={value}" for name, value in (variables or {}).items()]
    process = await asyncio.create_subprocess_exec(
        *("env", *assigned, *command),
        cwd=directory,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    output = b""
    try:
        async with asyncio.timeout(_SECONDS):
            output = await process.stdout.read(_LARGEST_OUTPUT)
            await process.wait()
    except TimeoutError:
        _log.warning("tool_silent", tool=command[0])
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return output.decode(errors="replace") if process.returncode == 0 else None


async def probe_tool(
    kind: RegistryKind, command: Sequence[str], files: Mapping[str, str], variables: Mapping[str, str]
) -> list[PackageIndex]:
    """The indexes that a tool asks when it runs on a project of these files."""
    with tempfile.TemporaryDirectory(prefix="journeyman-probe-") as name:
        directory = Path(name)
        for path, content in files.items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_text(content)
        async with _refusing_proxy() as (port, asked):
            given = {**_proxy_variables(port), **variables}
            await run_tool(command, directory=directory, variables=given)
    found = (parse_index(kind, address) for address in dict.fromkeys(asked))
    return [index for index in found if index is not None and index.registry is not None]


def _proxy_variables(port: int) -> dict[str, str]:
    address = f"http://127.0.0.1:{port}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "CARGO_HTTP_PROXY")
    options = [one for one in java_options(port, Path("/")) if "trustStore" not in one]
    return {
        **dict.fromkeys(names, address),
        "NO_PROXY": "",
        "no_proxy": "",
        "JAVA_TOOL_OPTIONS": " ".join(options),
    }


@asynccontextmanager
async def _refusing_proxy() -> AsyncIterator[tuple[int, list[str]]]:
    """Its port, and the hosts that it was asked for, as addresses."""
    asked: list[str] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            parser = h11.Connection(h11.SERVER)
            parser.receive_data(await reader.readuntil(b"\r\n\r\n"))
            request = parser.next_event()
            if isinstance(request, h11.Request):
                asked.append(_address(request.method.decode(), request.target.decode("ascii", "replace")))
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError, h11.RemoteProtocolError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0, limit=_LARGEST_HEAD)
    async with server:
        yield server.sockets[0].getsockname()[1], asked


def _address(method: str, target: str) -> str:
    if method == "CONNECT":
        return f"https://{target}/"
    parsed = urlsplit(target)
    return f"{parsed.scheme}://{parsed.netloc}/"
