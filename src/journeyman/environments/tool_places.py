"""Where version managers put tools, and which directories a jail must show for a program.

A home is never shown: of a program that stands alone in one (`~/.cargo/bin`, `~/.local/bin`) only its own
file is, because beside it are credentials.
"""

from collections.abc import Iterator
from pathlib import Path

_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/opt")))
"""What every jail shows."""
_PLUGINS = {"python3": "python", "node": "nodejs", "go": "golang", "cargo": "rust", "mvn": "maven"}
"""The names of tools at asdf and sdkman, where they differ; mise knows both."""
_IN_HOME = {
    "python3": (".pyenv/versions/*/bin", ".local/share/uv/python/*/bin"),
    "node": (
        ".nvm/versions/node/*/bin",
        ".nodenv/versions/*/bin",
        ".local/share/fnm/node-versions/*/installation/bin",
        ".volta/tools/image/node/*/bin",
    ),
    "cargo": (".rustup/toolchains/*/bin",),
    "go": ("sdk/go*/bin", ".goenv/versions/*/bin"),
    "java": (".jdks/*/bin", ".jenv/versions/*/bin"),
    "ruby": (".rbenv/versions/*/bin", ".rubies/*/bin", ".rvm/rubies/*/bin"),
    "php": (".phpenv/versions/*/bin",),
    "dotnet": (".dotnet",),
}
_ON_SYSTEM = {
    "java": ("/usr/lib/jvm/*/bin",),
    "go": ("/usr/local/go/bin", "/usr/lib/go-*/bin"),
    "dotnet": ("/usr/share/dotnet", "/usr/lib/dotnet", "/usr/local/share/dotnet"),
}
_SAME_PLACE = {"npm": "node", "npx": "node", "corepack": "node", "rustc": "cargo", "bundle": "ruby"}
"""Programs that come with another one."""
_MAX_VERSIONS = 50


def installed_below(root: Path, name: str) -> Iterator[Path]:
    """Directories with programs of every installed version, newest name last, below a home or a manager."""
    name = _SAME_PLACE.get(name, name)
    plugin = _PLUGINS.get(name, name)
    managed = dict.fromkeys((plugin, name, plugin.removesuffix("js")))
    patterns = [
        *_IN_HOME.get(name, ()),
        "versions/*/bin",
        *(f"{asdf}installs/{one}/*/bin" for asdf in (".asdf/", "") for one in managed),
        *(f"{asdf}installs/{one}/*/go/bin" for asdf in (".asdf/", "") for one in managed if name == "go"),
        *(f".local/share/mise/installs/{one}/*/bin" for one in managed),
        f".sdkman/candidates/{plugin}/*/bin",
    ]
    for pattern in patterns:
        yield from _directories(root, pattern)


def system_places(name: str) -> Iterator[Path]:
    for pattern in (*_ON_SYSTEM.get(_SAME_PLACE.get(name, name), ()), "/opt/*/bin"):
        yield from _directories(Path("/"), pattern[1:])


def shown_for(program: Path, home: Path) -> tuple[Path, ...]:
    """What a jail must show for a program, beside the directories of the system."""
    real = program.resolve()
    needed = [_shown(program, home), _shown(real, home) if real != program else None]
    if interpreter := _interpreter_of(real.parent.parent):
        needed.append(_shown(interpreter, home))
    paths = list(dict.fromkeys(path for path in needed if path))
    return tuple(path for path in paths if not any(path.is_relative_to(p) for p in paths if p != path))


def _shown(program: Path, home: Path) -> Path | None:
    if any(program.is_relative_to(place) for place in _SYSTEM):
        return None
    prefix = program.parent.parent if program.parent.name == "bin" else program.parent
    if program.parent.name != "bin" and not (prefix / "shared").is_dir():
        return program  # only .NET keeps its program beside its libraries
    return program if _is_private(prefix, home) else prefix


def _is_private(prefix: Path, home: Path) -> bool:
    """Whether a directory holds more than one installed tool: a home, or what belongs to one."""
    if len(prefix.parts) <= 2 or prefix.parent.name in ("home", "Users"):
        return True
    if home == prefix or home.is_relative_to(prefix):
        return True
    if prefix.parent == home:
        return prefix.name == "go" or (prefix.name.startswith(".") and prefix.name != ".dotnet")
    return False


def _interpreter_of(prefix: Path) -> Path | None:
    """The interpreter behind a virtual environment, as that of a program installed by pipx."""
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    homes = (
        value.strip() for key, _, value in (line.partition("=") for line in lines) if key.strip() == "home"
    )
    found = next(homes, "")
    return (Path(found) / "python3").resolve() if found.startswith("/") else None


def _directories(root: Path, pattern: str) -> list[Path]:
    """What matches; a version that is only a link to another one (`latest`) is left out."""
    parts = pattern.split("/")
    version = next((place for place, part in enumerate(parts) if "*" in part), 0)
    depth = len(root.parts) + version + 1
    try:
        found = sorted(path for path in root.glob(pattern) if path.is_dir())
    except OSError:
        return []
    return [path for path in found if not Path(*path.parts[:depth]).is_symlink()][-_MAX_VERSIONS:]
