"""Package managers of Node: which one a project uses, how it is brought, what it is told.

Corepack is left aside: older ones refuse today's signing keys. The manager comes from the registry instead,
in exactly the version that `packageManager` names, because pnpm and yarn otherwise fetch that version
themselves at every start, which fails without a network.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import yaml

from journeyman.environments.detect.found import there, under, workdir_of
from journeyman.environments.plan import InstallCommand
from journeyman.environments.project import Project

_PINNED = re.compile(r"(npm|pnpm|yarn|bun)@(\d[\w.-]*)")
_LOCKS: tuple[tuple[str, "ManagerName"], ...] = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)
_PNPM_BY_LOCK = {"5": "7", "6": "8", "9": "9"}
_CLASSIC = "1.22.22"

ManagerName = Literal["npm", "pnpm", "yarn", "bun"]


@dataclass(frozen=True, kw_only=True)
class Manager:
    name: ManagerName
    version: str = ""
    """As `packageManager` says, or what the lock file was written by; empty where any will do."""
    lock: str = ""
    is_berry: bool = False
    """yarn 2 and later."""
    own_program: str = ""
    """A release of yarn that the repository brings along."""

    @property
    def run_test(self) -> str:
        # `bun test` is bun's own runner, not the project's script.
        return "bun run test" if self.name == "bun" else f"{self.name} test"

    def run(self, script: str) -> str:
        return f"{self.name} run {shlex.quote(script)}"

    def execute(self, command: str) -> str:
        """Run a program of one of the packages, never one that would have to be fetched."""
        starters = {"npm": "npx --no-install", "pnpm": "pnpm exec", "yarn": "yarn run", "bun": "bun run"}
        return f"{starters[self.name]} {command}"


def find_manager(project: Project, directory: str, package: dict[str, Any]) -> Manager:
    by_lock = next((name for lock, name in _LOCKS if project.has(under(directory, lock))), None)
    pinned = _PINNED.match(str(package.get("packageManager") or ""))
    named = next((name for name in get_args(ManagerName) if pinned and pinned[1] == name), None)
    name: ManagerName = named or by_lock or "npm"
    version = pinned[2].partition("+")[0] if pinned else ""
    lock = next((lock for lock, of in _LOCKS if of == name and project.has(under(directory, lock))), "")
    if name == "yarn":
        return _yarn(project, directory, version, lock)
    if name == "pnpm" and not version:
        version = _pnpm_version(project, directory)
    if name == "bun" and not version:
        version = project.text(under(directory, ".bun-version")).strip()
        said = re.search(r"(?m)^bun\s+(\d[\w.-]*)", project.text(under(directory, ".tool-versions")))
        version = version or (said[1] if said else "")
    return Manager(name=name, version=version, lock=lock)


def _yarn(project: Project, directory: str, version: str, lock: str) -> Manager:
    settings = project.text(under(directory, ".yarnrc.yml"))
    own = re.search(r"(?m)^yarnPath:\s*[\"']?([^\s\"']+)", settings)
    is_berry = bool(
        (version and not version.startswith("1."))
        or project.has(under(directory, ".yarnrc.yml"))
        or "__metadata:" in project.text(under(directory, "yarn.lock"))[:2000]
    )
    program = own[1] if own and project.has(under(directory, own[1])) else ""
    return Manager(name="yarn", version=version, lock=lock, is_berry=is_berry, own_program=program)


def _pnpm_version(project: Project, directory: str) -> str:
    """The major version that wrote the lock file; settings in the workspace file came with pnpm 10."""
    if read_yaml(project.text(under(directory, "pnpm-workspace.yaml"))).keys() - {
        "packages",
        "catalog",
        "catalogs",
    }:
        return "10"
    written = re.search(
        r"(?m)^lockfileVersion:\s*'?(\d+)", project.text(under(directory, "pnpm-lock.yaml"))[:2000]
    )
    return _PNPM_BY_LOCK.get(written[1], "") if written else ""


def read_yaml(text: str) -> dict[str, Any]:
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def install_commands(manager: Manager, directory: str) -> Iterator[InstallCommand]:
    workdir = workdir_of(directory)
    if bring := _bring(manager):
        why = f"{manager.name} as the project asks for it"
        yield InstallCommand(command=bring, why=why, workdir=workdir)
    why = manager.lock or "package.json; there is no lock file, and none is written"
    yield InstallCommand(command=f"CI=1 {_install(manager)}", why=why, workdir=workdir)


def _install(manager: Manager) -> str:
    path = 'PATH="$HOME/.tools/bin:$PATH"'
    if manager.name == "npm":
        quiet = "--no-audit --no-fund"
        return f"npm ci {quiet}" if manager.lock else f"npm install --no-package-lock {quiet}"
    if manager.name == "pnpm":
        frozen = "--frozen-lockfile" if manager.lock else "--no-lockfile"
        # Elsewhere pnpm may put its store into the workspace, where it looks like a change.
        return f'{path} pnpm install {frozen} --store-dir "$HOME/.pnpm-store"'
    if manager.name == "bun":
        return f"{path} bun install " + ("--frozen-lockfile" if manager.lock else "--no-save")
    if manager.is_berry:
        program = f"node {shlex.quote(manager.own_program)}" if manager.own_program else "yarn"
        return f"{path} {program} install" + (" --immutable" if manager.lock else "")
    return f"{path} yarn install --non-interactive " + (
        "--frozen-lockfile" if manager.lock else "--no-lockfile"
    )


def _bring(manager: Manager) -> str:
    if manager.name == "npm":
        return ""
    package: str = manager.name
    version = manager.version
    if manager.name == "yarn" and manager.is_berry and not manager.own_program:
        package = "@yarnpkg/cli-dist"
    elif manager.name == "yarn":
        # The classic one hands over to the release that the repository brings.
        version = _CLASSIC if manager.own_program or not version else version
    asked = f"{package}@{version}" if version else package
    is_there = f'test "$({manager.name} --version 2>/dev/null)" = {shlex.quote(version)}'
    if not re.fullmatch(r"\d+\.\d+\.\d+\S*", version) or manager.own_program:
        is_there = f"{manager.name} --version >/dev/null 2>&1"
    home = f'"$HOME/.tools/{manager.name}'
    return (
        f'{is_there} || {{ npm install --no-audit --no-fund --prefix {home}" {shlex.quote(asked)} && '
        f'mkdir -p "$HOME/.tools/bin" && '
        f'ln -sf {home}/node_modules/.bin/{manager.name}" "$HOME/.tools/bin/{manager.name}"; }}'
    )


def probe_for(manager: Manager, *, root: str, has_packages: bool) -> str:
    """`root` is where the packages are, as seen from the check's directory."""
    if not has_packages:
        return there(manager.name)
    return f"{there(manager.name)} && {{ test -d {root}node_modules || test -f {root}.pnp.cjs; }}"
