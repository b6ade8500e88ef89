"""Transfer the contents of LFS files: by the batch API of the repository's own server, or from a directory.

Everything happens outside the sandboxes. The repository's credential goes to its own host alone, and contents
come from that host, or from one that an operator named: an answer of the server cannot send us elsewhere.
What arrives is checked against the SHA-256 and the size that the pointer says.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import aiohttp

from journeyman.errors import InvalidRepository, JourneymanError, NotAllowed, Transient
from journeyman.forges.base import Remote
from journeyman.forges.local_directory import locate
from journeyman.git.lfs import LfsStore, Pointer
from journeyman.git.missing import Missing

_MEDIA_TYPE = "application/vnd.git-lfs+json"
_BATCH = 100
_AT_ONCE = 4
_CHUNK = 1 << 20
_TIMEOUT = aiohttp.ClientTimeout(total=900, sock_connect=20, sock_read=60)
_HOSTS_HINT = "An operator can allow it with JOURNEYMAN_LFS_HOSTS."


async def fetch_lfs(
    store: LfsStore, remote: Remote, commit: str, *, max_bytes: int, hosts: Sequence[str]
) -> list[Missing]:
    """Bring the contents of a commit's LFS files into the store; returns those that cannot be had.

    Safe to repeat because what the store has is not fetched again.
    """
    await asyncio.to_thread(store.make, hosts)
    pointers = await store.pointers(commit)
    refused: dict[str, JourneymanError] = {}
    wanted: dict[str, Pointer] = {}
    room = max_bytes
    for pointer in {one.oid: one for one in pointers.values()}.values():
        room -= pointer.size
        if room < 0:
            refused[pointer.oid] = InvalidRepository(
                f"files in Git LFS would have more than {max_bytes:,} bytes",
                hint="An operator can raise JOURNEYMAN_LFS_MAX_BYTES.",
            )
        elif not store.has(pointer):
            wanted[pointer.oid] = pointer
    if wanted:
        refused |= await _fetch(store, remote, list(wanted.values()))
    return [
        Missing("lfs", path.decode(errors="backslashreplace"), error.message, error.hint)
        for path, pointer in pointers.items()
        if (error := refused.get(pointer.oid)) is not None
    ]


async def upload_lfs(store: LfsStore, remote: Remote, *, base: str, commit: str) -> None:
    """Upload the contents that a commit brings in, before it is pushed. Raises NotAllowed when refused.

    Safe to repeat because the server says which contents it has already.
    """
    if not store.exists():
        return
    before, now = await store.pointers(base), await store.pointers(commit)
    known = {pointer.oid for pointer in before.values()}
    new = {one.oid: one for one in now.values() if one.oid not in known and store.has(one)}
    if not new:
        return
    if urlsplit(remote.url).scheme == "file":
        await asyncio.to_thread(_copy_out, store, _objects_of(remote), new.values())
        return
    async with _connected(store, remote) as server:
        failed = await server.transfer("upload", list(new.values()))
    for error in failed.values():
        raise error


async def _fetch(store: LfsStore, remote: Remote, wanted: Sequence[Pointer]) -> dict[str, JourneymanError]:
    if urlsplit(remote.url).scheme == "file":
        return await asyncio.to_thread(_copy_in, store, _objects_of(remote), wanted)
    async with _connected(store, remote) as server:
        return await server.transfer("download", wanted)


def _objects_of(remote: Remote) -> Path:
    return locate(Path(unquote(urlsplit(remote.url).path))).common / "lfs" / "objects"


def _copy_in(store: LfsStore, objects: Path, wanted: Iterable[Pointer]) -> dict[str, JourneymanError]:
    refused: dict[str, JourneymanError] = {}
    for pointer in wanted:
        place = objects / pointer.oid[:2] / pointer.oid[2:4] / pointer.oid
        try:
            descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file, store.incoming() as incoming:
                while piece := file.read(_CHUNK):
                    incoming.write(piece)
                _check(incoming.pointer, pointer)
                incoming.keep()
        except OSError:
            refused[pointer.oid] = InvalidRepository(
                "its content is not in the clone",
                hint=f"Run `git -C {objects.parents[2]} lfs fetch --all`, then start a new order.",
            )
        except JourneymanError as error:
            refused[pointer.oid] = error
    return refused


def _copy_out(store: LfsStore, objects: Path, new: Iterable[Pointer]) -> None:
    owner = objects.parents[1].stat()
    for pointer in new:
        place = objects / pointer.oid[:2] / pointer.oid[2:4] / pointer.oid
        if place.exists():
            continue
        made = [
            above for above in (objects.parent, objects, *reversed(place.parents[:2])) if not above.exists()
        ]
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh = place.with_name(f"{place.name}.{os.getpid()}")
        shutil.copyfile(store.path_of(pointer.oid), fresh)
        for path in (*made, fresh):
            if os.geteuid() == 0:
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
        os.replace(fresh, place)


def _check(found: Pointer, wanted: Pointer) -> None:
    if (found.oid, found.size) != (wanted.oid, wanted.size):
        raise InvalidRepository(
            f"what was received is not the content that its pointer names ({wanted.oid[:12]})",
            hint="Upload the file again.",
        )


@asynccontextmanager
async def _connected(store: LfsStore, remote: Remote) -> AsyncIterator["_Server"]:
    async with aiohttp.ClientSession(timeout=_TIMEOUT, auto_decompress=False) as session:
        yield _Server(store, remote, session, tuple(store.hosts()))


@dataclass(frozen=True)
class _Server:
    store: LfsStore
    remote: Remote
    session: aiohttp.ClientSession
    hosts: tuple[str, ...]

    async def transfer(self, operation: str, wanted: Sequence[Pointer]) -> dict[str, JourneymanError]:
        """Transfer contents; returns those that failed, with the reason."""
        failed: dict[str, JourneymanError] = {}
        places = asyncio.Semaphore(_AT_ONCE)

        async def one(pointer: Pointer, answer: Mapping[str, Any]) -> None:
            async with places:
                try:
                    await self._transfer(operation, pointer, answer)
                except JourneymanError as error:
                    failed[pointer.oid] = error
                except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError) as error:
                    failed[pointer.oid] = _cut_off(error)

        for start in range(0, len(wanted), _BATCH):
            part = wanted[start : start + _BATCH]
            try:
                answers = await self._ask(operation, part)
            except JourneymanError as error:
                failed |= dict.fromkeys((pointer.oid for pointer in part), error)
                continue
            await asyncio.gather(*(one(pointer, answers.get(pointer.oid, {})) for pointer in part))
        return failed

    async def _ask(self, operation: str, part: Sequence[Pointer]) -> dict[str, Mapping[str, Any]]:
        body = {
            "operation": operation,
            "transfers": ["basic"],
            "hash_algo": "sha256",
            "objects": [{"oid": pointer.oid, "size": pointer.size} for pointer in part],
        }
        headers = {**self.remote.headers, "Accept": _MEDIA_TYPE, "Content-Type": _MEDIA_TYPE}
        url = f"{self.remote.url}/info/lfs/objects/batch"
        try:
            async with self.session.post(url, json=body, headers=headers, allow_redirects=False) as response:
                if response.status != 200:
                    raise _refused(operation, f"the server answered {response.status}")
                answer = await response.json(content_type=None)
                return {str(one["oid"]): one for one in answer["objects"]}
        except (aiohttp.ClientError, TimeoutError, ValueError, KeyError, TypeError) as error:
            raise _cut_off(error) from error

    async def _transfer(self, operation: str, pointer: Pointer, answer: Mapping[str, Any]) -> None:
        if "error" in answer:
            raise _refused(operation, str(answer["error"].get("message", "without a reason"))[:200])
        actions = answer.get("actions") or {}
        if operation == "download":
            await self._download(pointer, actions["download"])
        elif "upload" in actions:
            await self._upload(pointer, actions)

    async def _download(self, pointer: Pointer, action: Mapping[str, Any]) -> None:
        url, headers = self._allowed(action)
        async with self.session.get(url, headers=headers, allow_redirects=False) as response:
            if response.status != 200:
                raise _refused("download", f"the server answered {response.status}")
            with self.store.incoming() as incoming:
                async for piece in response.content.iter_chunked(_CHUNK):
                    incoming.write(piece)
                    if incoming.size > pointer.size:
                        break
                _check(incoming.pointer, pointer)
                incoming.keep()

    async def _upload(self, pointer: Pointer, actions: Mapping[str, Any]) -> None:
        url, headers = self._allowed(actions["upload"])
        headers.setdefault("Content-Type", "application/octet-stream")
        headers["Content-Length"] = str(pointer.size)
        with self.store.path_of(pointer.oid).open("rb") as content:
            async with self.session.put(
                url, data=content, headers=headers, allow_redirects=False
            ) as response:
                if response.status not in (200, 201, 204):
                    raise _refused("upload", f"the server answered {response.status}")
        if "verify" in actions:
            url, headers = self._allowed(actions["verify"])
            body = {"oid": pointer.oid, "size": pointer.size}
            headers |= {"Accept": _MEDIA_TYPE, "Content-Type": _MEDIA_TYPE}
            async with self.session.post(url, json=body, headers=headers, allow_redirects=False) as response:
                if response.status != 200:
                    raise _refused("upload", f"the server answered {response.status} when asked for it")

    def _allowed(self, action: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
        """Where the content is, and the headers to send there."""
        url = str(action["href"])
        own, named = urlsplit(self.remote.url), urlsplit(url)
        headers = {str(name): str(value) for name, value in (action.get("header") or {}).items()}
        if (own.scheme, own.netloc) == (named.scheme, named.netloc):
            is_given = any(name.lower() == "authorization" for name in headers)
            return url, headers if is_given else {**self.remote.headers, **headers}
        if named.scheme != "https" or named.hostname not in self.hosts or "@" in named.netloc:
            raise InvalidRepository(
                f"contents of Git LFS are kept on {named.hostname}, which is not the repository's host",
                hint=_HOSTS_HINT,
            )
        return url, headers


def _refused(operation: str, why: str) -> NotAllowed:
    return NotAllowed(
        f"Git LFS refused the {operation}: {why}",
        hint="Look at the repository's LFS quota, and at what the token may do.",
    )


def _cut_off(error: Exception) -> Transient:
    return Transient(
        f"Git LFS could not be used: {type(error).__name__}: {str(error)[:200]}", hint="It is tried again."
    )
