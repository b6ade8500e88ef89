"""Which tools this machine has, in which versions, and what of the disk a jail must show for each.

A program on the server's PATH is often only a switch of a version manager (rustup, pyenv, asdf) that looks
for its home, which no jail shows: the installed version behind it is used instead. Nothing of a repository is
read, and tools are asked for their version outside every repository.
"""

import asyncio
import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from journeyman.environments.plan import ToolNeed
from journeyman.environments.tool_places import installed_below, shown_for, system_places
from journeyman.environments.tool_versions import fits, release_of

_ASK_SECONDS = 20.0
_ASK = {"go": "version", "java": "-version"}
"""How a tool is asked for its version, where that is not `--version`."""
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:_\d+)?(?:-(?:nightly|beta|rc|alpha)[\w.]*)?|\b\d+\b")
_NAMED_PYTHON = re.compile(r"python3\.\d+")
_USUAL = ("/usr/local/bin", "/usr/bin", "/bin")
_REMEDY = "Install it on the server, or name its directory in JOURNEYMAN_SANDBOX_PATHS."


@dataclass(frozen=True, kw_only=True)
class InstalledTool:
    name: str
    version: str
    """As it says itself, without its name; empty where it does not say."""
    program: Path
    directories: tuple[Path, ...] = ()
    """What a jail must show for it beside the system's own directories; one may be a single program."""

    @property
    def bin(self) -> Path:
        return self.program.parent


@dataclass(frozen=True, kw_only=True)
class ToolsFound:
    tools: tuple[InstalledTool, ...] = ()
    notes: tuple[str, ...] = ()
    """A sentence for every version that is asked for and not there."""

    @property
    def shown(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(path for tool in self.tools for path in tool.directories))

    @property
    def path(self) -> tuple[str, ...]:
        """Directories at the front of PATH, so that these versions are found; the system's own come last."""
        directories = dict.fromkeys(str(tool.bin) for tool in self.tools)
        return tuple(sorted(directories, key=lambda directory: directory in _USUAL))


@dataclass
class Tools:
    """The tools of one machine. Their versions are asked once and remembered."""

    search_path: str
    """PATH of the server."""
    home: Path
    """The home of the server's user, where version managers install."""
    _versions: dict[tuple[Path, float], str] = field(default_factory=dict, init=False)

    async def find(self, needs: Iterable[ToolNeed]) -> ToolsFound:
        """The best installed version of each tool; one that does not fit is better than none."""
        by_tool: dict[str, list[ToolNeed]] = {}
        for need in needs:
            by_tool.setdefault(need.tool, []).append(need)
        found = [choose(asked, await self.installed(name)) for name, asked in by_tool.items()]
        return ToolsFound(
            tools=tuple(tool for tool, _ in found if tool),
            notes=tuple(note for _, note in found if note),
        )

    async def installed(self, name: str) -> list[InstalledTool]:
        """Every version of a tool, that which the server's user would get first."""
        programs = list(_programs(name, await self._places(name)))
        versions = await asyncio.gather(*(self._version(name, program) for program in programs))
        return [
            InstalledTool(
                name=name, version=version, program=program, directories=shown_for(program, self.home)
            )
            for program, version in zip(programs, versions, strict=True)
        ]

    async def _places(self, name: str) -> list[Path]:
        """Directories with programs: those of PATH, every switch replaced, then all installed versions."""
        places: list[Path] = []
        others: list[Path] = []
        for entry in map(Path, self.search_path.split(":")):
            if not entry.is_absolute():
                continue  # the working directory, which may be anything
            if entry.name == "shims":
                below = list(installed_below(entry.parent, name))
                places += _chosen_globally(entry.parent, below)
                others += below
            elif (switch := entry / "rustup").is_file() and _is_same(entry / name, switch):
                default = await self._run(switch, "which", name)
                places += [Path(default.strip()).parent] if default.startswith("/") else []
            else:
                places.append(entry)
        return [*places, *others, *installed_below(self.home, name), *system_places(name)]

    async def _version(self, name: str, program: Path) -> str:
        key = (program, _changed_at(program))
        if key not in self._versions:
            said = await self._run(program, _ASK.get(name, "--version"))
            found = _VERSION.search(said)
            self._versions[key] = found[0] if found else ""
        return self._versions[key]

    async def _run(self, program: Path, *arguments: str) -> str:
        """What a program of this machine says; empty when it fails or takes too long."""
        path = f"{program.parent}:{self.search_path}"
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                cwd="/",
                env={"PATH": path, "HOME": str(self.home), "LC_ALL": "C", "DOTNET_NOLOGO": "1"},
            )
        except OSError:
            return ""
        try:
            said, _ = await asyncio.wait_for(process.communicate(), _ASK_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            return ""
        return said.decode(errors="replace") if process.returncode == 0 else ""


def choose(needs: Sequence[ToolNeed], installed: Sequence[InstalledTool]) -> tuple[InstalledTool | None, str]:
    """The version to use of one tool, and a sentence where that is not what is asked for.

    The server's own choice, the first, is kept where it fits; of the others the newest is used.
    """
    asked = [need for need in needs if need.version] or list(needs[:1])
    if not installed:
        return None, f"{asked[0].tool} is needed ({asked[0].said_in}) and not installed here. {_REMEDY}"
    fitting = [tool for tool in installed if all(fits(need.version, tool.version) for need in asked)]
    if fitting:
        newest = max(fitting, key=_preference)
        return (fitting[0] if fitting[0] is installed[0] else newest), ""
    unmet = next((n for n in asked if not any(fits(n.version, t.version) for t in installed)), asked[0])
    nearest = min(installed, key=lambda tool: _distance(unmet.version, tool.version))
    others = ", ".join(dict.fromkeys(tool.version or "an unknown version" for tool in installed))
    used = f", of which {nearest.version} is used" if len(installed) > 1 else ", which is used"
    return nearest, (
        f"{unmet.said_in} asks for {unmet.tool} {unmet.version}; this machine has {others}{used}. {_REMEDY}"
    )


def _preference(tool: InstalledTool) -> tuple[bool, tuple[int, ...], bool]:
    is_release = "-" not in tool.version
    return is_release, release_of(tool.version), tool.program.name == tool.name


def _distance(wanted: str, have: str) -> tuple[int, ...]:
    """How far two versions are apart, the first number counting most."""
    asked, actual = release_of(wanted), release_of(have)
    return tuple(abs(one - other) for one, other in zip(asked, actual, strict=False)) or (10_000,)


def _programs(name: str, places: Iterable[Path]) -> Iterator[Path]:
    """The programs in these places, each once, whatever links lead to it."""
    seen: set[str] = set()
    for place in dict.fromkeys(places):
        if name == "python3" and (place.parent / "pyvenv.cfg").is_file():
            continue  # a virtual environment has packages of its own, as that of the server
        for program in (place / name, *_named_by_version(name, place)):
            real = os.path.realpath(program)
            if real not in seen and os.path.isfile(real) and os.access(real, os.X_OK):
                seen.add(real)
                yield program


def _named_by_version(name: str, place: Path) -> list[Path]:
    """`python3.12` beside `python3`."""
    if name != "python3":
        return []
    with contextlib.suppress(OSError):
        return [place / one for one in sorted(os.listdir(place)) if _NAMED_PYTHON.fullmatch(one)]
    return []


def _chosen_globally(root: Path, below: Sequence[Path]) -> list[Path]:
    """The version that pyenv and its like use outside every project."""
    try:
        chosen = (root / "version").read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return []
    return [place for name in chosen for place in below if name in place.parts]


def _changed_at(program: Path) -> float:
    try:
        return program.stat().st_mtime
    except OSError:
        return 0.0


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
