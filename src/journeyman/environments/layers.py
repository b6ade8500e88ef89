"""Installed environments on disk, cached by their key and shared read-only by all orders of a repository.

A layer is a directory `<key>` with what lay in the workspace, the home, and a description. It is built beside
the others and renamed into place whole, so one that can be found is complete. A file lock lets several
processes make each layer once. Its directories are locked, shared, for as long as a sandbox shows them; one
that is locked is not removed.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import time
import uuid
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from journeyman.environments.key import LayerInputs, layer_key, nearness
from journeyman.files.trash import TRASH, Trash
from journeyman.git.locks import FileLock
from journeyman.sandboxes.base import LayerMount
from journeyman.sandboxes.jail import HOME, WORKSPACE

_DESCRIPTION = "layer.json"
_MAKING, _LOCKS = ".making", ".locks"
_MB = 1024 * 1024
_UNUSED_SECONDS = 600.0
"""A layer that was used so recently may be about to be mounted again."""
_LEAST_NEARNESS = 0.25
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, kw_only=True)
class LayerContent:
    """What a set-up has put into the directory that it was given."""

    inputs: LayerInputs
    mounts: tuple[str, ...]
    """Directories of the workspace."""
    files: tuple[str, ...]
    """Single files of the workspace: they are copied where the directories are mounted."""
    size_bytes: int
    file_count: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Layer(LayerContent):
    key: str
    directory: Path
    created_at: datetime

    @property
    def workspace(self) -> Path:
        return self.directory / "workspace"

    @property
    def home(self) -> Path:
        return self.directory / "home"

    @property
    def sandbox_mounts(self) -> tuple[LayerMount, ...]:
        places = (LayerMount(self.workspace / path, f"{WORKSPACE}/{path}") for path in self.mounts)
        return (*places, LayerMount(self.home, HOME))


Build = Callable[[Path], Awaitable[LayerContent | None]]
"""Fills an empty directory with `workspace` and `home`; None when that failed."""


class Layers:
    """All layers of one Journeyman home."""

    def __init__(self, directory: Path, *, max_mb: int) -> None:
        self._directory = directory.absolute()
        self._max_bytes = max_mb * _MB
        self.trash = Trash(self._directory / TRASH)
        self._locks: weakref.WeakValueDictionary[str, FileLock] = weakref.WeakValueDictionary()

    def find(self, key: str) -> Layer | None:
        return _read(self._directory / key)

    def touch(self, layer: Layer) -> None:
        """Note that it is used now: what was not used for longest is removed first."""
        with contextlib.suppress(OSError):  # a full disk keeps nobody from using it
            os.utime(layer.directory / _DESCRIPTION)

    def all(self) -> list[Layer]:
        with contextlib.suppress(FileNotFoundError), os.scandir(self._directory) as entries:
            found = (_read(Path(entry.path)) for entry in entries if not entry.name.startswith("."))
            return sorted((layer for layer in found if layer), key=lambda layer: layer.created_at)
        return []

    def nearest(self, wanted: LayerInputs) -> Layer | None:
        """The older layer that the wanted one has most in common with, if any is near enough."""
        near = [(nearness(layer.inputs, wanted) or 0, layer.created_at, layer) for layer in self.all()]
        best = max(near, key=lambda one: one[:2], default=None)
        return best[2] if best and best[0] >= _LEAST_NEARNESS else None

    async def make(self, inputs: LayerInputs, build: Build) -> tuple[Layer | None, bool]:
        """The layer, and whether somebody else had made it. At most one process builds a layer at a time."""
        key = layer_key(inputs)
        async with self._lock(key).hold():
            if (layer := self.find(key)) is not None:
                return layer, True
            async with self._making() as directory:
                content = await build(directory)
                if content is None:
                    return None, False
                layer = await asyncio.to_thread(self._publish, directory, key, content)
        await asyncio.to_thread(self.evict, keep={key})
        return layer, False

    def evict(self, keep: set[str] | None = None) -> list[str]:
        """Remove what was not used for longest until all layers fit; returns the keys of those removed."""
        layers = self.all()
        excess = sum(layer.size_bytes for layer in layers) - self._max_bytes
        removed: list[str] = []
        for layer in sorted(layers, key=_used_at):
            if excess <= 0:
                break
            is_recent = time.time() - _used_at(layer) < _UNUSED_SECONDS
            if layer.key not in (keep or ()) and not is_recent and self._remove(layer):
                excess -= layer.size_bytes
                removed.append(layer.key)
        return removed

    def sweep(self) -> int:
        """Discard what processes that were killed left half made; returns how much there was."""
        left = [path for path in _entries(self._directory / _MAKING) if _is_unlocked(path)]
        for path in left:
            self.trash.put(path)
        return len(left)

    @contextlib.asynccontextmanager
    async def _making(self) -> AsyncIterator[Path]:
        self.sweep()
        directory, lock = self._locked_directory()
        try:
            yield directory
        finally:
            self.trash.put(directory)
            os.close(lock)

    def _locked_directory(self) -> tuple[Path, int]:
        """A new directory. Before it is locked another process may take it for a leftover."""
        while True:
            directory = self._directory / _MAKING / uuid.uuid4().hex
            directory.mkdir()
            with contextlib.suppress(FileNotFoundError):
                lock = os.open(directory, _OPEN)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if directory.exists():
                    return directory, lock
                os.close(lock)

    def _publish(self, directory: Path, key: str, content: LayerContent) -> Layer:
        made = directory / "layer"
        made.mkdir(mode=0o755)
        for name in ("workspace", "home"):
            (directory / name).mkdir(exist_ok=True)
            (directory / name).rename(made / name)
        about = {**asdict(content), "key": key, "created_at": datetime.now(UTC).isoformat()}
        (made / _DESCRIPTION).write_text(json.dumps(about))
        self.trash.put(self._directory / key)  # what has this name cannot be read any more
        made.rename(self._directory / key)
        layer = self.find(key)
        assert layer is not None
        return layer

    def _remove(self, layer: Layer) -> bool:
        with contextlib.ExitStack() as stack:
            for path in (layer.workspace, layer.home):
                if not stack.enter_context(_locked(path)):
                    return False
            self.trash.put(layer.directory)
        return True

    def _lock(self, key: str) -> FileLock:
        for directory in (self._directory, self._directory / _LOCKS, self._directory / _MAKING):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._locks.setdefault(key, FileLock(self._directory / _LOCKS / key))


def _read(directory: Path) -> Layer | None:
    try:
        about = json.loads((directory / _DESCRIPTION).read_bytes())
        return Layer(
            key=directory.name,
            directory=directory,
            created_at=datetime.fromisoformat(about["created_at"]),
            inputs=LayerInputs.from_json(about["inputs"]),
            mounts=tuple(about["mounts"]),
            files=tuple(about["files"]),
            size_bytes=int(about["size_bytes"]),
            file_count=int(about["file_count"]),
            notes=tuple(about["notes"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _used_at(layer: Layer) -> float:
    with contextlib.suppress(OSError):
        return (layer.directory / _DESCRIPTION).stat().st_mtime
    return 0.0


def _entries(directory: Path) -> list[Path]:
    with contextlib.suppress(FileNotFoundError):
        return sorted(directory.iterdir())
    return []


def _is_unlocked(path: Path) -> bool:
    with _locked(path) as is_locked:
        return is_locked


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[bool]:
    """Whether nobody else had it locked; it is ours until the end then."""
    try:
        descriptor = os.open(path, _OPEN)
    except OSError:
        yield not os.path.lexists(path)
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)
