"""Which hosts an index names in its answers, read from exactly the fields that the index itself controls.

A page about a package also holds what its author wrote: a homepage, a readme, a link. None of that may
widen what can be reached, so each format is read by its own fields, and only below the index's own path.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from journeyman.environments.egress.rules import Registry, RegistryKind, Scheme, is_host_name

_DISTRIBUTION = re.compile(r"\.(?:whl|zip|egg|tar\.(?:gz|bz2|xz|Z)|tgz)\Z")
_JSON = re.compile(r"application/(?:[\w.+-]+\+)?json\Z|text/json\Z")
_PLAIN_JSON = re.compile(r"(?:text/plain|application/octet-stream|binary/octet-stream|)\Z")
"""What file servers call a `config.json`."""
_TEMPLATE = re.compile(r"%[\w-]+%|\{[\w/-]+\}")
_DEFAULT_PORTS: dict[str, int] = {"https": 443, "http": 80}


def is_worth_reading(registries: Iterable[Registry], path: str, content_type: str) -> bool:
    """Whether an answer may name hosts, so that it has to be kept until its end."""
    kinds = {one.kind for one in registries if _is_below(path, one)}
    media_type = content_type.partition(";")[0].strip().lower()
    if _JSON.match(media_type):
        return bool(kinds & {"pypi", "npm", "cargo", "nuget", "composer"})
    if media_type.endswith("html") or media_type == "application/vnd.pypi.simple.v1+html":
        return "pypi" in kinds
    return "cargo" in kinds and _is_cargo_configuration(path) and bool(_PLAIN_JSON.match(media_type))


def linked_registries(
    registries: Iterable[Registry], path: str, content_type: str, body: bytes
) -> list[Registry]:
    """What an answer of one host to a request for `path` allows to be read besides."""
    found: dict[Registry, None] = {}
    for registry in registries:
        if not _is_below(path, registry):
            continue
        base = f"{registry.scheme}://{registry.host}:{registry.port}{path}"
        for address in _addresses(registry.kind, path, content_type.lower(), body):
            if (linked := _registry_at(_joined(base, address), "files", registry.scheme)) is not None:
                found[linked] = None
    return list(found)


def redirected_registry(
    registries: Iterable[Registry], path: str, query: str, location: str
) -> list[Registry]:
    """Where a registry redirects to: that path alone, to be read as what was asked for.

    A request with a query redirects nowhere: with one, a site can often be made to redirect anywhere.
    """
    found = []
    for registry in registries:
        if query or not _is_below(path, registry):
            continue
        base = f"{registry.scheme}://{registry.host}:{registry.port}{path}"
        target = _joined(base, location)
        linked = _registry_at(target, registry.kind, registry.scheme, path=urlsplit(target).path or "/")
        if linked is not None:
            found.append(linked)
    return found


def _joined(base: str, address: str) -> str:
    """The address as seen from a page; empty where it is none."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def _is_below(path: str, registry: Registry) -> bool:
    plain = unquote(path)
    if ".." in plain.split("/") or "//" in plain or "\\" in plain:
        return False
    if registry.is_exact:
        return path == registry.path
    return plain == registry.path.rstrip("/") or plain.startswith(f"{registry.path.rstrip('/')}/")


def _registry_at(
    address: str, kind: RegistryKind, origin: Scheme, *, path: str | None = None
) -> Registry | None:
    try:
        parsed: SplitResult = urlsplit(address)
        host, port = (parsed.hostname or "").lower(), parsed.port
    except ValueError:
        return None
    if parsed.scheme != "https" and (parsed.scheme, origin) != ("http", "http"):
        return None
    scheme: Scheme = "https" if parsed.scheme == "https" else "http"
    port = port or _DEFAULT_PORTS[scheme]
    if "@" in parsed.netloc or not is_host_name(host):
        return None
    return Registry(
        kind=kind, host=host, port=port, scheme=scheme, path=path or "/", is_exact=path is not None
    )


def _addresses(kind: RegistryKind, path: str, content_type: str, body: bytes) -> Iterator[str]:
    if kind == "pypi" and "html" in content_type:
        yield from _anchors(body)
    elif kind in _FIELDS:
        try:
            content = json.loads(body)
        except (ValueError, RecursionError):
            return
        if isinstance(content, dict):
            for address in _FIELDS[kind](content, path):
                if isinstance(address, str):
                    yield _TEMPLATE.sub("x", address)


def _anchors(body: bytes) -> list[str]:
    page = _SimplePage()
    page.feed(body.decode("utf-8", "replace"))
    return page.files


class _SimplePage(HTMLParser):
    """A project's page in a simple index: every link is a file, or is left alone."""

    def __init__(self) -> None:
        super().__init__()
        self.files: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        address = named.get("href") or ""
        file = re.split("[?#]", address, maxsplit=1)[0]
        # Old indexes marked what authors had written with rel="homepage" and rel="download".
        if tag == "a" and "rel" not in named and _DISTRIBUTION.search(file):
            self.files.append(address)


def _pypi(content: dict[str, Any], _: str) -> Iterator[Any]:
    for file in _list(content.get("files")):
        yield _dict(file).get("url")


def _npm(content: dict[str, Any], _: str) -> Iterator[Any]:
    versions = _dict(content.get("versions")).values()
    for version in (*versions, content):  # one version asked for by itself has the same field at its top
        yield _dict(_dict(version).get("dist")).get("tarball")


def _is_cargo_configuration(path: str) -> bool:
    return path.endswith("/config.json")


def _cargo(content: dict[str, Any], path: str) -> Iterator[Any]:
    if _is_cargo_configuration(path):
        yield content.get("dl")
        yield content.get("api")


def _nuget(content: dict[str, Any], path: str) -> Iterator[Any]:
    if path.endswith("/index.json") and "version" in content:
        for resource in _list(content.get("resources")):
            yield _dict(resource).get("@id")


def _composer(content: dict[str, Any], _: str) -> Iterator[Any]:
    for name in ("metadata-url", "providers-url", "providers-lazy-url"):
        yield content.get(name)
    for versions in _dict(content.get("packages")).values():
        for version in versions if isinstance(versions, list) else _dict(versions).values():
            yield _dict(_dict(version).get("dist")).get("url")


_FIELDS: dict[RegistryKind, Callable[[dict[str, Any], str], Iterator[Any]]] = {
    "pypi": _pypi,
    "npm": _npm,
    "cargo": _cargo,
    "nuget": _nuget,
    "composer": _composer,
}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
