"""Look at everything an order needs on this machine, and say what to do about what is missing.

It works without a server: it is what one asks when the server does not start.
"""

import asyncio
import errno
import os
import shlex
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, Literal
from urllib.parse import quote

import httpx2
import psycopg

from journeyman.agents.base import Agent
from journeyman.app import agents_of, sandboxes_of
from journeyman.cli.client import Client
from journeyman.cli.terminal import console, print_json, single_line, styled
from journeyman.database import database_url
from journeyman.errors import JourneymanError
from journeyman.files.databases import check_database
from journeyman.files.home import DATABASES, exposed_paths
from journeyman.files.trash import TRASH, undeletable
from journeyman.gateway.gateway import Gateway
from journeyman.migrations.upgrade import newest_version
from journeyman.settings import Settings

_ROOMS = ("workspaces", "sessions")
_LEAST_FREE_BYTES = 1_000_000_000
_CHECK_SECONDS = 60.0
State = Literal["good", "optional", "missing"]
_SIGNS: dict[State, tuple[str, str]] = {
    "good": ("✓", "green"),
    "optional": ("–", "yellow"),
    "missing": ("✗", "red"),
}


@dataclass(frozen=True)
class HealthCheck:
    name: str
    state: State
    """`optional` is something that work is possible without."""
    detail: str
    hint: str = ""


def examine(settings: Settings, *, as_json: bool) -> int:
    checks = (_git, _sandbox, _home, _leftovers, _database, _models)
    found = [check(settings) for check in checks]
    found += [*_agents(settings), _github(settings), _server(settings)]
    good = all(finding.state != "missing" for finding in found)
    if as_json:
        print_json({"ok": good, "checks": [asdict(finding) for finding in found]})
        return 0 if good else 1
    out = console()
    for finding in found:
        sign, style = _SIGNS[finding.state]
        out.print(styled((f"{sign} ", style), (f"{finding.name:<10}", "bold"), finding.detail))
        if finding.hint:
            out.print(styled((f"  {'':<10}What to do: ", "dim"), finding.hint))
    return 0 if good else 1


def _git(_settings: Settings) -> HealthCheck:
    hint = "Install git 2.39 or newer, for example with `apt-get install git`."
    if shutil.which("git") is None:
        return HealthCheck("git", "missing", "there is no git on the PATH", hint)
    found = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = tuple(
        int(part) for part in found.removeprefix("git version ").split(".")[:2] if part.isdecimal()
    )
    if numbers < (2, 39):
        return HealthCheck("git", "missing", f"{found or 'git'} is too old", hint)
    return HealthCheck("git", "good", found)


def _sandbox(settings: Settings) -> HealthCheck:
    ready = asyncio.run(sandboxes_of(settings).readiness())
    if not ready.ready:
        return HealthCheck("sandbox", "missing", "no sandbox can be opened", ready.needs)
    if settings.local_isolation == "none":
        return HealthCheck(
            "sandbox",
            "optional",
            "agents run WITHOUT isolation, as the user of the server",
            "Unset JOURNEYMAN_LOCAL_ISOLATION to run them in a bubblewrap jail.",
        )
    if ready.needs:
        return HealthCheck("sandbox", "optional", "bubblewrap, without overlays", ready.needs)
    return HealthCheck("sandbox", "good", "bubblewrap")


def _home(settings: Settings) -> HealthCheck:
    home, chmod = settings.home, f"chmod 700 {shlex.quote(str(settings.home))}"
    try:
        if not home.exists():
            return HealthCheck("home", "good", f"{home} will be made at the first start")
        if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if found := exposed_paths(home):
            names = ", ".join(path.name for path in found)
            return HealthCheck(
                "home", "optional", f"others may read {names}", f"Run `{chmod}`, or start the server."
            )
        free = shutil.disk_usage(home).free
    except OSError as error:
        hint = f"Run `sudo chown -R $USER {shlex.quote(str(home))}`, or choose another JOURNEYMAN_HOME."
        return HealthCheck("home", "missing", f"{home} cannot be used: {error.strerror}", hint)
    room = f"{free / 1e9:.1f} GB free at {home}"
    if free < _LEAST_FREE_BYTES:
        return HealthCheck("home", "missing", room, "Free some space: orders fail when it is full.")
    return HealthCheck("home", "good", room)


def _leftovers(settings: Settings) -> HealthCheck:
    """What orders left and no server could delete."""
    try:
        found = [path for room in _ROOMS for path in undeletable(settings.home / room / TRASH)]
    except OSError as error:
        return HealthCheck(
            "leftovers", "optional", f"cannot be looked for: {error.strerror}", "See the home above."
        )
    if not found:
        return HealthCheck("leftovers", "good", "none")
    where = ", ".join(sorted({str(path.parent) for path in found}))
    return HealthCheck(
        "leftovers",
        "optional",
        f"{len(found)} set aside in {where}, because they could not be deleted",
        "Look whether something is mounted in them or they belong to another user, then delete set-aside-*; "
        "each start tries again.",
    )


def _database(settings: Settings) -> HealthCheck:
    try:
        address = database_url(settings.database_url, settings.home)
        if not settings.is_sqlite:
            with psycopg.connect(address.replace("+psycopg", "", 1), connect_timeout=5) as server:
                version = _version(server.execute)
            return _of_version("PostgreSQL", version)
        was_used = (settings.home / "worker-id").exists()
        whole = [
            check_database(
                settings.home / name, seconds=_CHECK_SECONDS, was_used=was_used and name == DATABASES[0]
            )
            for name in DATABASES
        ]
        file = settings.home / DATABASES[0]
        if not file.exists() or file.stat().st_size == 0:
            return HealthCheck("database", "good", "SQLite in the home, made at the first start")
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as tables:
            version = _version(tables.execute)
    except JourneymanError as error:
        return HealthCheck("database", "missing", error.message, error.hint)
    except (sqlite3.Error, OSError) as error:
        return HealthCheck(
            "database", "missing", str(error), "Set JOURNEYMAN_HOME to a directory you may write."
        )
    except psycopg.Error as error:
        hint = "Check DATABASE_URL, and that the server it names is running."
        return HealthCheck("database", "missing", single_line(str(error)), hint)
    return _of_version(
        "SQLite in the home" + ("" if all(whole) else ", too large to check to its end"), version
    )


def _version(execute: Callable[..., Any]) -> str | None:
    """The version of the tables; None where there are none yet."""
    try:
        return str(execute("SELECT version_num FROM alembic_version").fetchone()[0])
    except (sqlite3.OperationalError, psycopg.errors.UndefinedTable):
        return None


def _of_version(where: str, version: str | None) -> HealthCheck:
    newest = newest_version()
    if version is not None and version > newest:
        return HealthCheck(
            "database",
            "missing",
            f"{where}, of a newer Journeyman: tables {version}, known are {newest}",
            "Install that version again, or put a backup from before its upgrade in place.",
        )
    if version is None or version < newest:
        return HealthCheck("database", "good", f"{where}; the next start brings its tables to {newest}")
    return HealthCheck("database", "good", f"{where}, tables {version}")


def _agents(settings: Settings) -> list[HealthCheck]:
    """Each agent: whether it is installed, at which version, and whose keys it could use."""
    try:
        known = agents_of(settings)
    except JourneymanError as error:
        return [HealthCheck("agents", "missing", error.message, error.hint)]
    keyed = {model.provider for model in Gateway(settings).models() if model.ready} - {"scripted"}
    return [asyncio.run(_agent(agent, keyed)) for agent in known.values()]


async def _agent(agent: Agent, keyed: set[str]) -> HealthCheck:
    ready, about = await agent.readiness(), agent.about
    name = f"{agent.name} {about.version}".strip()
    if not ready.ready:
        return HealthCheck("agent", "optional", f"{name} cannot be used", ready.needs)
    usable = sorted(keyed & set(about.providers))
    if not usable:
        keys = f"It needs a key for {' or '.join(p for p in about.providers if p != 'scripted')}."
        return HealthCheck("agent", "optional", f"{name} has no key to work with", keys)
    return HealthCheck("agent", "good", f"{name}, with models of {', '.join(usable)}")


def _models(settings: Settings) -> HealthCheck:
    if settings.small_model:
        try:
            Gateway(settings).check_model(settings.small_model)
        except JourneymanError as error:
            return HealthCheck("models", "optional", f"JOURNEYMAN_SMALL_MODEL: {error.message}", error.hint)
    keyed = sorted({model.provider for model in Gateway(settings).models() if model.ready} - {"scripted"})
    if not keyed:
        return HealthCheck(
            "models",
            "optional",
            "no provider has a key; the built-in agent can only replay scripted/demo",
            "Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY.",
        )
    if not settings.model:
        return HealthCheck(
            "models",
            "good",
            f"keys for {', '.join(keyed)}; no default model",
            "Set JOURNEYMAN_MODEL, or give --model with each order.",
        )
    small = f"; small {settings.small_model}" if settings.small_model else ""
    return HealthCheck("models", "good", f"keys for {', '.join(keyed)}; default {settings.model}{small}")


def _github(settings: Settings) -> HealthCheck:
    hint = "Set GITHUB_TOKEN to a token that may write contents and pull requests."
    if settings.github_token is None:
        return HealthCheck("github", "optional", "no token; repositories on this machine only", hint)
    try:
        answer = httpx2.get(
            f"{settings.github_api_url.rstrip('/')}/user",
            headers={"Authorization": f"Bearer {settings.github_token.get_secret_value()}"},
            timeout=10.0,
        )
    except httpx2.TransportError as error:
        return HealthCheck(
            "github",
            "optional",
            f"{settings.github_api_url} cannot be reached: {error}",
            "Check the network.",
        )
    if answer.status_code != 200:
        return HealthCheck("github", "missing", f"GITHUB_TOKEN was refused ({answer.status_code})", hint)
    return HealthCheck("github", "good", f"signed in as {answer.json().get('login', 'somebody')}")


def _server(settings: Settings) -> HealthCheck:
    if Client(settings).answers():
        return HealthCheck("server", "good", f"answers at {settings.server_url}")
    return HealthCheck(
        "server",
        "optional",
        f"none answers at {settings.server_url}",
        "`jm serve` starts one; `jm run` does too.",
    )
