"""Rust: crates and workspaces of cargo.

Cargo takes a source that is older than what was built from it for built. A layer is shared by many commits,
so after the set-up what was built of the project itself is removed and only its dependencies stay.
"""

import fnmatch
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from journeyman.environments.detect.found import Detected, Hints, there, under, workdir_of
from journeyman.environments.detect.listing import paths_below
from journeyman.environments.plan import Check, InstallCommand, ToolNeed
from journeyman.environments.project import Project

_MAX_MEMBERS = 500
_ONLY_LOUDER = re.compile(r" (?:--verbose|-v|--locked|--no-fail-fast)\b")
_PLAIN_TEST = re.compile(r"cargo test(?: --(?:workspace|all|all-features|release|features[ =][\w,/ -]+))*")
_CLIPPY = re.compile(r"cargo clippy\b")
_FORMAT = re.compile(r"cargo fmt\b.*--check")


def detect(project: Project, directory: str, hints: Hints) -> Detected | None:
    if not project.has(under(directory, "Cargo.toml")):
        return None
    manifest = _read(project, directory)
    if manifest is None:
        note = f"{under(directory, 'Cargo.toml')} is not valid TOML, so nothing is known of the crate."
        return Detected(ecosystem="Rust", directory=directory, notes=(note,))
    if _table(manifest, "package", "metadata").get("cargo-fuzz"):
        return None  # built by cargo-fuzz alone, with a compiler of its own
    if "workspace" not in manifest and _is_in_workspace(project, directory):
        return None  # a member, which the workspace checks, or something that cargo itself refuses to build
    members = tuple(_members(project, directory, manifest))
    return Detected(
        ecosystem="Rust",
        directory=directory,
        tools=tuple(_tools(project, directory, manifest)),
        install=tuple(_install(project, directory, manifest, members)),
        checks=tuple(_checks(project, directory, manifest, hints)),
        directories=(under(directory, "target"),),
        key_files=(
            *(under(one, "Cargo.toml") for one in (directory, *members)),
            under(directory, "Cargo.lock"),
            *(under(directory, name) for name in ("rust-toolchain", "rust-toolchain.toml")),
            *(under(directory, f".cargo/{name}") for name in ("config", "config.toml")),
        ),
        members=members,
    )


def _read(project: Project, directory: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(project.text(under(directory, "Cargo.toml")))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _table(manifest: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    value: Any = manifest
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _members(project: Project, directory: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Crates that the workspace of this manifest builds: those it names, and those it depends on by path."""
    if "workspace" not in manifest:
        return
    workspace = _table(manifest, "workspace")
    patterns = [posixpath.normpath(one) for one in _strings(workspace.get("members"))]
    excluded = [posixpath.normpath(one) for one in _strings(workspace.get("exclude"))]
    patterns += [
        posixpath.normpath(dependency["path"])
        for table in (manifest, workspace)
        for kind in ("dependencies", "dev-dependencies", "build-dependencies")
        for dependency in _table(table, kind).values()
        if isinstance(dependency, dict) and isinstance(dependency.get("path"), str)
    ]
    found = 0
    crates = (path for path in paths_below(project, directory) if path.endswith("/Cargo.toml"))
    for crate in map(posixpath.dirname, crates):
        inner = posixpath.relpath(crate or ".", directory or ".")
        if inner == "." or inner.startswith("..") or found >= _MAX_MEMBERS:
            continue
        if any(inner == one or inner.startswith(f"{one}/") for one in excluded):
            continue
        if any(_matches(inner, pattern) for pattern in patterns):
            found += 1
            yield crate


def _is_in_workspace(project: Project, directory: str) -> bool:
    """Whether a directory above has a workspace that does not leave this one out."""
    above = directory
    while above:
        above = posixpath.dirname(above)
        workspace = (_read(project, above) or {}).get("workspace")
        if isinstance(workspace, dict):
            inner = posixpath.relpath(directory, above or ".")
            excluded = [posixpath.normpath(one) for one in _strings(workspace.get("exclude"))]
            return not any(inner == one or inner.startswith(f"{one}/") for one in excluded)
    return False


def _matches(path: str, pattern: str) -> bool:
    """As cargo's globs: a star stays within one directory."""
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def _tools(project: Project, directory: str, manifest: Mapping[str, Any]) -> Iterator[ToolNeed]:
    said = _toolchain(project, directory)
    if said:
        yield ToolNeed(tool="cargo", version=said[1], said_in=said[0])
        return
    minimum = _table(manifest, "package").get("rust-version") or _table(manifest, "workspace", "package").get(
        "rust-version"
    )
    version = f">={minimum}" if isinstance(minimum, str) else ""
    yield ToolNeed(tool="cargo", version=version, said_in=under(directory, "Cargo.toml"))


def _toolchain(project: Project, directory: str) -> tuple[str, str] | None:
    """The file that names a toolchain, nearest first, and its channel."""
    for place in dict.fromkeys((directory, "")):
        for name in ("rust-toolchain.toml", "rust-toolchain"):
            text = project.text(path := under(place, name)).strip()
            if not text:
                continue
            if "[" not in text:
                return path, text.split()[0]
            try:
                channel = _table(tomllib.loads(text), "toolchain").get("channel")
            except tomllib.TOMLDecodeError:
                continue
            if isinstance(channel, str):
                return path, channel
    return None


def _install(
    project: Project, directory: str, manifest: Mapping[str, Any], members: tuple[str, ...]
) -> Iterator[InstallCommand]:
    workdir = workdir_of(directory)
    if project.has(lock := under(directory, "Cargo.lock")):
        # A lock that does not match is brought up to date as `cargo test` itself would.
        yield InstallCommand(command="cargo fetch --locked || cargo fetch", why=lock, workdir=workdir)
    else:
        yield InstallCommand(command="cargo fetch", why=under(directory, "Cargo.toml"), workdir=workdir)
    manifests = (manifest, *(_read(project, member) or {} for member in members))
    names = [_table(one, "package").get("name") for one in manifests]
    own = " ".join(f"-p {name}" for name in names if isinstance(name, str) and re.fullmatch(r"[\w-]+", name))
    if own and _has_dependencies(manifests):
        everywhere = _everywhere(manifest)
        yield InstallCommand(
            command=f"cargo build --offline --tests{everywhere} && cargo clean --offline {own}",
            why="dependencies are compiled once; of the project itself nothing is kept",
            workdir=workdir,
            is_optional=True,
        )


def _has_dependencies(manifests: tuple[Mapping[str, Any], ...]) -> bool:
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    return any(_table(one, kind) for one in manifests for kind in kinds)


def _everywhere(manifest: Mapping[str, Any]) -> str:
    return " --workspace" if "workspace" in manifest and "package" in manifest else ""


def _checks(project: Project, directory: str, manifest: Mapping[str, Any], hints: Hints) -> Iterator[Check]:
    workdir = workdir_of(directory)
    said = [one for one in hints.commands if one.workdir in (workdir, ".")]
    command, why = f"cargo test{_everywhere(manifest)}", under(directory, "Cargo.toml")
    plain = [(_ONLY_LOUDER.sub("", one.command), one.said_in) for one in said]
    plain = [one for one in plain if _PLAIN_TEST.fullmatch(one[0])]
    if plain and not any(one == "cargo test" for one, _ in plain):
        command, why = plain[0]
    # Without a lock file cargo would ask its registry before every build, which no check can reach.
    test = Check(
        name="cargo test",
        kind="test",
        command=f"{command} --offline",
        workdir=workdir,
        tool="cargo",
        why=why,
        probe=there("cargo"),
    )
    yield test
    names = project.names(directory)
    clippy = next((one for one in said if _CLIPPY.match(one.command)), None)
    if names & {"clippy.toml", ".clippy.toml"} or _table(manifest, "lints", "clippy") or clippy:
        yield Check(
            name="clippy",
            kind="lint",
            command=f"cargo clippy{_everywhere(manifest)} --offline",
            workdir=workdir,
            tool="clippy",
            why=clippy.said_in if clippy else "clippy is configured",
            probe="cargo clippy --version",
        )
    formatted = next((one for one in said if _FORMAT.match(one.command)), None)
    if names & {"rustfmt.toml", ".rustfmt.toml"} or formatted:
        yield Check(
            name="rustfmt",
            kind="lint",
            command="cargo fmt --all --check",
            workdir=workdir,
            tool="rustfmt",
            why=formatted.said_in if formatted else "rustfmt is configured",
            probe="cargo fmt --version",
        )
