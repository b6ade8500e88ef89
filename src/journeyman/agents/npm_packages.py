"""Coding agents of other makers as npm packages, each installed at exactly one version.

npm checks every file against the lock file that ships with Journeyman, and runs no script of the packages:
the first time that one of their programs runs is in the jail. A version has a directory of its own, which
is renamed into place when it is complete, so running orders keep the version that they started with.
"""

import fcntl
import json
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from journeyman.agents.base import About
from journeyman.errors import AgentFailed, InvalidInput
from journeyman.sandboxes.base import Readiness
from journeyman.sandboxes.jail import search_path
from journeyman.settings import Settings

_LOCKS = Path(__file__).parent / "packages"
_NPM = "Install npm: apt-get install npm."
_NODE = (
    "It needs Node.js 20 or newer in the sandbox: apt-get install nodejs, or see JOURNEYMAN_SANDBOX_PATHS."
)


@dataclass(frozen=True)
class Package:
    """What npm installs for an agent."""

    name: str
    package: str
    maker: str
    programs: dict[str, str]
    """Where under node_modules the program is, for each kind of processor."""
    needs_node: bool = False

    @cached_property
    def version(self) -> str:
        version: str = json.loads((_LOCKS / self.name / "package.json").read_text(encoding="utf-8"))[
            "version"
        ]
        return version


_GEMINI = "@google/gemini-cli/bundle/gemini.js"
PACKAGES = {
    package.name: package
    for package in (
        Package(
            "claude_code",
            "@anthropic-ai/claude-code",
            "Anthropic",
            {
                "x86_64": "@anthropic-ai/claude-code-linux-x64/claude",
                "x86_64 without AVX2": "@anthropic-ai/claude-code-linux-x64/claude",
                "aarch64": "@anthropic-ai/claude-code-linux-arm64/claude",
            },
        ),
        Package(
            "opencode",
            "opencode-ai",
            "the OpenCode project",
            {
                "x86_64": "opencode-linux-x64/bin/opencode",
                "x86_64 without AVX2": "opencode-linux-x64-baseline/bin/opencode",
            },
        ),
        Package(
            "codex",
            "@openai/codex",
            "OpenAI",
            {
                "x86_64": "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
                "x86_64 without AVX2": "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
                "aarch64": "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex",
            },
        ),
        Package(
            "gemini",
            "@google/gemini-cli",
            "Google",
            {"x86_64": _GEMINI, "x86_64 without AVX2": _GEMINI, "aarch64": _GEMINI},
            needs_node=True,
        ),
    )
}


class NpmPackages:
    """Installs agents, and knows which are installed and how to start them."""

    def __init__(self, settings: Settings) -> None:
        self._directory = (settings.agents_directory or settings.home / "agents").absolute()
        self._search_path = search_path(settings.sandbox_paths)

    def directory_of(self, name: str) -> Path:
        """The directory that holds everything of an agent."""
        return self._directory / name / PACKAGES[name].version

    def command(self, name: str) -> list[str]:
        """The command line of an agent's program."""
        package = PACKAGES[name]
        program = str(self.directory_of(name) / "node_modules" / package.programs[_processor()])
        return ["node", program] if package.needs_node else [program]

    def about(self, name: str, providers: tuple[str, ...]) -> About:
        return About(providers, PACKAGES[name].version, (self.directory_of(name),), keeps_sessions=True)

    def readiness(self, name: str) -> Readiness:
        package = PACKAGES[name]
        if _processor() not in package.programs:
            return Readiness(False, f"There is no {name} for a processor of the kind {_processor()}.")
        if not self.directory_of(name).is_dir():
            return Readiness(False, f"Install it: jm agents install {name}.")
        if package.needs_node and not shutil.which("node", path=self._search_path):
            return Readiness(False, _NODE)
        return Readiness(True)

    def install(self, name: str) -> bool:
        """Install an agent; False when it was there already."""
        if name not in PACKAGES:
            raise InvalidInput(
                f"there is no agent {name!r} to install", hint=f"There are: {', '.join(PACKAGES)}."
            )
        if _processor() not in PACKAGES[name].programs:
            raise AgentFailed(f"{name} cannot be installed here", hint=self.readiness(name).needs)
        with self._locked():
            if self.directory_of(name).is_dir():
                return False
            with tempfile.TemporaryDirectory(dir=self._directory, prefix=f".{name}-") as fresh:
                place = Path(fresh) / "complete"
                shutil.copytree(_LOCKS / name, place)
                _npm_install(place, name)
                self.directory_of(name).parent.mkdir(exist_ok=True)
                place.rename(self.directory_of(name))
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock of installations, and remove what an interrupted one left."""
        self._directory.mkdir(parents=True, exist_ok=True)
        with (self._directory / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            for left in self._directory.glob(".*-*"):
                shutil.rmtree(left)
            yield


def _npm_install(place: Path, name: str) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise AgentFailed(f"{name} is installed with npm, which is not here", hint=_NPM)
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run([npm, "ci", *options], cwd=place, capture_output=True, text=True, check=False)
    program = place / "node_modules" / PACKAGES[name].programs[_processor()]
    if done.returncode != 0 or not program.is_file():
        said = (done.stderr or done.stdout).strip()[:1000]
        raise AgentFailed(
            f"npm could not install {name}: {said or 'its program is missing'}",
            hint="Check that npm reaches its registry (npm ping), then try again.",
        )
    program.chmod(0o755)


@cache
def _processor() -> str:
    machine = platform.machine()
    if machine == "x86_64" and " avx2 " not in Path("/proc/cpuinfo").read_text(encoding="ascii"):
        return f"{machine} without AVX2"
    return machine
