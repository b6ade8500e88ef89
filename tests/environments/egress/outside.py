"""What the stand-in's hosts answer: indexes, files, redirects, and answers that break off."""

import asyncio
import gzip
import json

from aiohttp import web

FILE = bytes(range(256)) * 4096
"""A megabyte."""


def routes() -> list[web.RouteDef]:
    return [
        web.get("/package", _npm),
        web.get("/simple/package/", _simple),
        web.get("/project/package/", _project),
        web.get("/file.tgz", _file),
        web.get("/echo", _echo),
        web.post("/echo", _echo),
        web.put("/echo", _echo),
        web.get("/moved", _moved),
        web.get("/login", _moved),
        web.get("/landing.tgz", _landing),
        web.get("/endless/{chunks}", _endless),
        web.get("/half", _half),
        web.get("/silent", _silent),
        web.get("/chunked", _chunked),
        web.get("/cookie", _cookie),
        web.get("/large-header", _large_header),
    ]


def _port(request: web.Request) -> str:
    return request.host.rpartition(":")[2]


async def _npm(request: web.Request) -> web.Response:
    tarball = f"https://files.example:{_port(request)}/file.tgz"
    content = {"homepage": "https://evil.example/", "versions": {"1.0.0": {"dist": {"tarball": tarball}}}}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers = {"content-encoding": "gzip", "content-type": "application/json"}
        return web.Response(body=gzip.compress(json.dumps(content).encode()), headers=headers)
    return web.json_response(content)


async def _simple(request: web.Request) -> web.Response:
    page = (
        f'<a href="https://files.example:{_port(request)}/file.tgz#sha256=00">file.tgz</a>'
        '<a rel="homepage" href="https://evil.example/evil.tar.gz">home</a>'
        '<a href="https://api.evil.example/about">about</a>'
    )
    return web.Response(text=page, content_type="text/html")


async def _project(request: web.Request) -> web.Response:
    page = f'<a href="https://evil.example:{_port(request)}/evil.whl">what the author wrote</a>'
    return web.Response(text=page, content_type="text/html")


async def _file(request: web.Request) -> web.StreamResponse:
    response = web.Response(body=FILE, headers={"ETag": '"one"'})
    if "range" in request.headers:
        first, _, last = request.headers["range"].removeprefix("bytes=").partition("-")
        part = FILE[int(first) : int(last) + 1]
        response = web.Response(
            status=206, body=part, headers={"Content-Range": f"bytes {first}-{last}/{len(FILE)}"}
        )
    return response


async def _echo(request: web.Request) -> web.Response:
    return web.json_response({"headers": dict(request.headers), "body": (await request.read()).decode()})


async def _moved(request: web.Request) -> web.Response:
    return web.Response(
        status=302, headers={"Location": f"https://files.example:{_port(request)}/landing.tgz?signed=1"}
    )


async def _landing(request: web.Request) -> web.Response:
    return web.Response(body=b"landed")


async def _endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(int(request.match_info["chunks"])):
        await response.write(bytes(1_000_000))
    return response


async def _half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b"only this")
    assert request.transport is not None
    request.transport.abort()
    return response


async def _silent(_: web.Request) -> web.Response:
    await asyncio.Event().wait()
    return web.Response()


async def _chunked(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    response.enable_chunked_encoding()
    await response.prepare(request)
    for part in (b"one ", b"two ", b"three"):
        await response.write(part)
    return response


async def _cookie(_: web.Request) -> web.Response:
    headers = {
        "Set-Cookie": "a=b",
        "Alt-Svc": 'h3=":443"',
        "Connection": "X-Private",
        "X-Private": "1",
        "X-Kept": "1",
    }
    return web.Response(headers=headers)


async def _large_header(_: web.Request) -> web.Response:
    return web.Response(headers={"X-Large": "x" * 100_000})
