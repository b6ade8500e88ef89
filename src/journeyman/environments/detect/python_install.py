"""The commands that make a Python package's virtual environment.

Always a new `.venv` with the package installed editable, so that tests import the code that stands in the
workspace. A lock file is installed exactly; poetry, pdm and pipenv only write its content out as
requirements, because their own installers ask indexes for more than a mirror has. A tool that the machine
lacks is brought into the home by pip.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from journeyman.environments.detect.found import under, workdir_of
from journeyman.environments.detect.python_manifest import Manifest
from journeyman.environments.detect.python_needs import Selection
from journeyman.environments.plan import InstallCommand
from journeyman.environments.project import Project

TOOLS_BIN = "/home/agent/.tools/bin"
"""Where the tools that a set-up brings are found."""
_BOUND = re.compile(r"(>=|<=|==|~=|!=|>|<|\^|~|=)?\s*v?(\d+)(?:\.(\d+|\*))?[\d.*]*")
_MINORS = range(8, 16)
_OLDEST_USUAL = 12
"""Below this bound the machine's own `python3` will do, and pip says it where not."""
_PIP = ".venv/bin/python -m pip install"
_PRETEND = (
    "git rev-parse HEAD >/dev/null 2>&1 || { echo 'no git history: the version is set to 0.0.1'; "
    "export SETUPTOOLS_SCM_PRETEND_VERSION=0.0.1 PDM_BUILD_SCM_VERSION=0.0.1 "
    "POETRY_DYNAMIC_VERSIONING_BYPASS=0.0.1; }; "
)
"""Only where no history can be read: a version from tags is the right one."""
_EXPORTED = '"$HOME/.tools/requirements.txt"'


@dataclass(frozen=True, kw_only=True)
class Locked:
    """A lock file and the tool that understands it."""

    tool: str
    lock: str


_LOCKS = (
    Locked(tool="uv", lock="uv.lock"),
    Locked(tool="poetry", lock="poetry.lock"),
    Locked(tool="pdm", lock="pdm.lock"),
    Locked(tool="pipenv", lock="Pipfile.lock"),
)


def find_lock(project: Project, directory: str) -> Locked | None:
    return next((one for one in _LOCKS if project.has(under(directory, one.lock))), None)


def install_commands(
    project: Project,
    directory: str,
    manifest: Manifest,
    chosen: Selection,
    *,
    lock: Locked | None,
    pinned: str = "",
) -> Iterator[InstallCommand]:
    workdir = workdir_of(directory)
    why = "a new virtual environment, so that a repeat gives the same"
    yield InstallCommand(command=make_venv(manifest.requires_python, pinned), why=why, workdir=workdir)
    if lock:
        yield InstallCommand(
            command=_bring(lock.tool, manifest), why=f"{lock.lock} is {lock.tool}'s", workdir=workdir
        )
    pretend = _PRETEND if manifest.has_version_from_git else ""
    if lock and lock.tool == "uv":
        yield from _uv(manifest, chosen, pretend, workdir)
    elif lock:
        yield from _exported(project, directory, manifest, chosen, lock, pretend)
    else:
        yield from _pip(project, directory, manifest, chosen, pretend)


def make_venv(requires_python: str, pinned: str) -> str:
    """Make `.venv` with the first interpreter that fits; where none does, fail and say what was asked for."""
    fitting = _fitting_minors(requires_python)
    wanted = re.match(r"3\.(\d+)", pinned)
    low, high = fitting[0], fitting[-1]
    if low < _OLDEST_USUAL and high == _MINORS[-1] and not wanted:
        return "rm -rf .venv && python3 -m venv .venv"
    names = [f"python3.{wanted[1]}"] if wanted else []
    names += ["python3", *(f"python3.{minor}" for minor in reversed(fitting))]
    upper = f" <= (3, {high})" if high < _MINORS[-1] else ""
    test = f"import sys; sys.exit(not (3, {low}) <= sys.version_info[:2]{upper})"
    asked = f"the project asks for Python {requires_python or pinned}, which is not here"
    return (
        f"rm -rf .venv; for python in {' '.join(dict.fromkeys(names))}; do "
        f'"$python" -c {shlex.quote(test)} 2>/dev/null && break; python=; done; '
        f'"${{python:?{_plain(asked)}}}" -m venv .venv'
    )


def _fitting_minors(requires: str) -> list[int]:
    """Minor versions of Python 3 that satisfy all bounds; those that cannot be read are left to pip."""
    fitting = set(_MINORS)
    for sign, major, minor in _BOUND.findall(requires.split("||")[0]):
        if not minor.isdigit() or major not in ("3", "4"):
            continue
        at = int(minor) if major == "3" else max(_MINORS) + 1
        exact = {at} if sign in ("==", "=", "~", "") else set()
        if exact:
            fitting &= exact
        elif sign in (">=", "^", "~=", ">"):
            fitting -= set(range(min(_MINORS), at))
        elif sign == "<":
            fitting -= set(range(at, max(_MINORS) + 1))
        elif sign == "<=":
            fitting -= set(range(at + 1, max(_MINORS) + 1))
    return sorted(fitting) or list(_MINORS)


def _plain(text: str) -> str:
    """Safe within `${name:?…}` in double quotes."""
    return re.sub(r'[`$"\\}]', "", text)


def _bring(tool: str, manifest: Manifest) -> str:
    """Bring a tool by pip, each into an environment of its own, unless the machine has it."""
    packages = {"uv": _uv_itself(manifest), "poetry": "poetry poetry-plugin-export"}.get(tool, tool)
    there = "poetry export --help" if tool == "poetry" else f"{tool} --version"
    home = f'"$HOME/.tools/{tool}'
    return (
        f'{there} >/dev/null 2>&1 || {{ python3 -m venv {home}" && '
        f'{home}/bin/python" -m pip install {packages} && '
        f'mkdir -p "$HOME/.tools/bin" && ln -sf {home}/bin/{tool}" "$HOME/.tools/bin/{tool}"; }}'
    )


def _uv_itself(manifest: Manifest) -> str:
    wanted = manifest.tool("uv", "required-version")
    if not isinstance(wanted, str):
        return "uv"
    return shlex.quote(f"uv{wanted}" if re.match(r"[=<>!~]", wanted) else f"uv=={wanted}")


def _uv(manifest: Manifest, chosen: Selection, pretend: str, workdir: str) -> Iterator[InstallCommand]:
    path, sync = 'PATH="$HOME/.tools/bin:$PATH"', "uv sync --frozen --python .venv/bin/python"
    everywhere = " --all-packages" if manifest.tool("uv", "workspace") else ""
    extras = "".join(f" --extra {shlex.quote(one)}" for one in chosen.extras)
    groups = "".join(f" --group {shlex.quote(one)}" for one in chosen.groups)
    only = " --no-default-groups" if chosen.groups else ""
    yield InstallCommand(
        command=f"{pretend}{path} {sync}{everywhere}{only}{groups}{extras}", why="uv.lock", workdir=workdir
    )
    if chosen.checker_groups:
        more = "".join(f" --group {shlex.quote(one)}" for one in chosen.checker_groups)
        yield InstallCommand(
            command=f"{pretend}{path} {sync} --inexact{everywhere}{only}{groups}{more}{extras}",
            why="the groups of linters and type checkers",
            workdir=workdir,
            is_optional=True,
        )
    declared = [one for one in chosen.requirements if not one.startswith("-")]
    if declared:
        yield InstallCommand(
            command=f"{_PIP} {shlex.join(declared)}", why="the tests need it", workdir=workdir
        )


def _exported(
    project: Project, directory: str, manifest: Manifest, chosen: Selection, lock: Locked, pretend: str
) -> Iterator[InstallCommand]:
    workdir, text = workdir_of(directory), project.text(under(directory, lock.lock))
    hashed = not re.search(r'(?m)^(?:type = "(?:git|directory|file|url)"|path = |git = )', text)
    groups = [one for one in (*chosen.groups, *chosen.checker_groups) if one in manifest.groups]
    without = "" if hashed else " --without-hashes"
    if lock.tool == "poetry":
        named = f" --with {shlex.quote(','.join(groups))}" if groups else ""
        extras = "".join(f" --extras {shlex.quote(one)}" for one in chosen.extras)
        export = f"poetry export --no-interaction{named}{extras}{without} --output {_EXPORTED}"
    elif lock.tool == "pdm":
        wanted = "".join(f" --group {shlex.quote(one)}" for one in (*groups, *chosen.extras))
        export = f"pdm export{wanted}{without} --output {_EXPORTED}"
    else:
        export = f"pipenv requirements --dev > {_EXPORTED}"
    yield InstallCommand(
        command=f'export PATH="$HOME/.tools/bin:$PATH"; mkdir -p "$HOME/.tools" && {export} && '
        f"{_PIP} --no-deps --requirement {_EXPORTED}",
        why=f"the exact versions of {lock.lock}",
        workdir=workdir,
    )
    if manifest.is_installable:
        yield InstallCommand(
            command=f"{pretend}{_PIP} --no-deps --editable .", why="the package itself", workdir=workdir
        )
    if chosen.requirements:
        more = shlex.join(chosen.requirements)
        yield InstallCommand(command=f"{_PIP} {more}", why="the tests need it", workdir=workdir)


def _pip(
    project: Project, directory: str, manifest: Manifest, chosen: Selection, pretend: str
) -> Iterator[InstallCommand]:
    workdir = workdir_of(directory)
    files = [f"--requirement {shlex.quote(one)}" for one in chosen.files]
    if any("--hash=" in project.text(under(directory, one)) for one in chosen.files):
        # With hashes pip refuses everything that has none, an editable package among it.
        yield InstallCommand(
            command=f"{_PIP} {' '.join(files)}", why=" and ".join(chosen.files), workdir=workdir
        )
        files = []
    own = [*chosen.requirements]
    for group in chosen.groups:
        own += [
            one for one in manifest.groups[group] if one.partition("[")[0].lower() != manifest.name.lower()
        ]
    itself: list[str] = []
    if manifest.is_installable and not (chosen.installs_itself and not chosen.extras):
        extras = f"[{','.join(chosen.extras)}]" if chosen.extras else ""
        itself = [f"--editable {shlex.quote(f'.{extras}')}"]
    elif not manifest.is_installable:
        own += [
            *manifest.dependencies,
            *(one for name in chosen.extras for one in manifest.extras.get(name, ())),
        ]
    words = [*files, *itself, *(shlex.quote(one) for one in dict.fromkeys(own))]
    if words:
        yield InstallCommand(
            command=f"{pretend}{_PIP} {' '.join(words)}", why=_reason(chosen), workdir=workdir
        )
    checkers = [one for group in chosen.checker_groups for one in manifest.groups[group]]
    if more := [*checkers, *chosen.checkers]:
        yield InstallCommand(
            command=f"{_PIP} {shlex.join(dict.fromkeys(more))}",
            why="linters and type checkers",
            workdir=workdir,
            is_optional=True,
        )


def _reason(chosen: Selection) -> str:
    parts = [
        *(f"group {one}" for one in chosen.groups),
        *(f"extra {one}" for one in chosen.extras),
        *chosen.files,
    ]
    return "the package with " + ", ".join(parts) if parts else "the package and what its tests need"
