"""The web UI's files, as they were built into the package.

They are served where no route of the API matches. The page routes by itself, so every path that a browser
requests as HTML gets the one document, and `/` gives it to every client; any other path is a 404. The content
security policy lets the page load and reach nothing but this server: what an agent wrote stays text.
"""

from functools import lru_cache
from importlib.resources import files
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from journeyman.api.problems import problem

_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        # Dialogs and the diff view put style elements into the page. Styles can fetch nothing from outside.
        "style-src 'self' 'unsafe-inline'",
        "font-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_DOCUMENT: Final = "index.html"
_FOR_EVER: Final = "public, max-age=31536000, immutable"
_OTHERS: Final = ("api/", "ws/")
"""Below these there are API routes only: an unknown path is a 404, not a page."""


class Pages:
    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory or Path(str(files("journeyman") / "web_dist"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            refusal = problem(
                404, f"there is no WebSocket {scope['path']}", hint="Use /ws/ and an order's id."
            )
            await refusal(scope, receive, send)
            return
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(404)
        await self._answer(scope["path"].strip("/"), Headers(scope=scope))(scope, receive, send)

    def _answer(self, path: str, headers: Headers) -> Response:
        if path and path != _DOCUMENT and path in self._files():
            return self._file(path, headers)
        is_page = not path or "text/html" in headers.get("accept", "")
        if not is_page or f"{path}/".startswith(_OTHERS):
            raise HTTPException(404)
        if not (self._directory / _DOCUMENT).is_file():
            return problem(
                503,
                "the web UI was not built",
                hint="Run `scripts/web.sh`. The API and `jm` work without it.",
                category="internal",
            )
        return self._file(_DOCUMENT, headers)

    def _files(self) -> frozenset[str]:
        document = self._directory / _DOCUMENT
        return _files_of(self._directory, document.stat().st_mtime_ns if document.is_file() else 0)

    def _file(self, path: str, headers: Headers) -> Response:
        # A name under assets/ holds a digest of its content; the others must be asked for again.
        cache = _FOR_EVER if path.startswith("assets/") else "no-cache"
        own = {"Content-Security-Policy": _POLICY, "Cache-Control": cache, "Vary": "Accept-Encoding"}
        kind = guess_type(path)[0] or "application/octet-stream"
        packed = self._directory / f"{path}.gz"
        if "gzip" in headers.get("accept-encoding", "") and packed.is_file():
            return FileResponse(packed, media_type=kind, headers={**own, "Content-Encoding": "gzip"})
        return FileResponse(self._directory / path, media_type=kind, headers=own)


@lru_cache(maxsize=1)
def _files_of(directory: Path, _built: int) -> frozenset[str]:
    """Every file of one build; the time of the build is part of the cache key."""
    return frozenset(
        path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()
    )
