"""Look at everything an order needs on this machine, and say what to do about what is missing.

It works without a server: it is what one asks when the server does not start.
"""

import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Literal

import httpx2
import psycopg

from journeyman.cli.client import Client
from journeyman.cli.screen import console, line, print_json, styled
from journeyman.database import database_url
from journeyman.errors import JourneymanError
from journeyman.gateway.gateway import Gateway
from journeyman.settings import Settings

State = Literal["good", "optional", "missing"]
_SIGNS: dict[State, tuple[str, str]] = {
    "good": ("✓", "green"),
    "optional": ("–", "yellow"),
    "missing": ("✗", "red"),
}


@dataclass(frozen=True)
class Finding:
    name: str
    state: State
    """`optional` is something that work is possible without."""
    detail: str
    hint: str = ""


def examine(settings: Settings, *, as_json: bool) -> int:
    checks: tuple[Callable[[Settings], Finding], ...] = (
        _git,
        _sandbox,
        _database,
        _models,
        _github,
        _server,
    )
    found = [check(settings) for check in checks]
    good = all(finding.state != "missing" for finding in found)
    if as_json:
        print_json({"ok": good, "checks": [asdict(finding) for finding in found]})
        return 0 if good else 1
    out = console()
    for finding in found:
        sign, style = _SIGNS[finding.state]
        out.print(styled((f"{sign} ", style), (f"{finding.name:<9}", "bold"), finding.detail))
        if finding.hint:
            out.print(styled((f"  {'':<9}What to do: ", "dim"), finding.hint))
    return 0 if good else 1


def _git(_settings: Settings) -> Finding:
    hint = "Install git 2.39 or newer, for example with `apt-get install git`."
    if shutil.which("git") is None:
        return Finding("git", "missing", "there is no git on the PATH", hint)
    told = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = tuple(
        int(part) for part in told.removeprefix("git version ").split(".")[:2] if part.isdecimal()
    )
    if numbers < (2, 39):
        return Finding("git", "missing", f"{told or 'git'} is too old", hint)
    return Finding("git", "good", told)


def _sandbox(settings: Settings) -> Finding:
    if settings.local_isolation == "none":
        return Finding(
            "sandbox",
            "optional",
            "agents run WITHOUT isolation, as the user of the server",
            "Unset JOURNEYMAN_LOCAL_ISOLATION to run them in a bubblewrap jail.",
        )
    if shutil.which("bwrap") is None:
        return Finding(
            "sandbox", "missing", "there is no bubblewrap (bwrap)", "Run `apt-get install bubblewrap`."
        )
    tried = subprocess.run(
        ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode:
        return Finding(
            "sandbox",
            "missing",
            f"bubblewrap cannot open a jail: {tried.stderr.strip()}",
            "Allow unprivileged user namespaces: `sysctl kernel.unprivileged_userns_clone=1`.",
        )
    return Finding("sandbox", "good", "bubblewrap")


def _database(settings: Settings) -> Finding:
    where = "SQLite in the home" if settings.is_sqlite else "PostgreSQL"
    try:
        address = database_url(settings.database_url, settings.home)
        if settings.is_sqlite:
            settings.home.mkdir(parents=True, exist_ok=True)
            sqlite3.connect(settings.home / "journeyman.db").close()
        else:
            psycopg.connect(address.replace("+psycopg", "", 1), connect_timeout=5).close()
    except JourneymanError as error:
        return Finding("database", "missing", error.message, error.hint)
    except (sqlite3.Error, OSError) as error:
        return Finding("database", "missing", str(error), "Set JOURNEYMAN_HOME to a directory you may write.")
    except psycopg.Error as error:
        hint = "Check DATABASE_URL, and that the server it names is running."
        return Finding("database", "missing", line(str(error)), hint)
    return Finding("database", "good", where)


def _models(settings: Settings) -> Finding:
    if settings.small_model:
        try:
            Gateway(settings).check_model(settings.small_model)
        except JourneymanError as error:
            return Finding("models", "optional", f"JOURNEYMAN_SMALL_MODEL: {error.message}", error.hint)
    keyed = sorted({model.provider for model in Gateway(settings).models() if model.ready} - {"scripted"})
    if not keyed:
        return Finding(
            "models",
            "optional",
            "no provider has a key; the built-in agent can only replay scripted/demo",
            "Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY.",
        )
    if not settings.model:
        return Finding(
            "models",
            "good",
            f"keys for {', '.join(keyed)}; no default model",
            "Set JOURNEYMAN_MODEL, or give --model with each order.",
        )
    small = f"; small {settings.small_model}" if settings.small_model else ""
    return Finding("models", "good", f"keys for {', '.join(keyed)}; default {settings.model}{small}")


def _github(settings: Settings) -> Finding:
    hint = "Set GITHUB_TOKEN to a token that may write contents and pull requests."
    if settings.github_token is None:
        return Finding("github", "optional", "no token; repositories on this machine only", hint)
    try:
        answer = httpx2.get(
            f"{settings.github_api_url.rstrip('/')}/user",
            headers={"Authorization": f"Bearer {settings.github_token.get_secret_value()}"},
            timeout=10.0,
        )
    except httpx2.TransportError as error:
        return Finding(
            "github",
            "optional",
            f"{settings.github_api_url} cannot be reached: {error}",
            "Check the network.",
        )
    if answer.status_code != 200:
        return Finding("github", "missing", f"GITHUB_TOKEN was refused ({answer.status_code})", hint)
    return Finding("github", "good", f"signed in as {answer.json().get('login', 'somebody')}")


def _server(settings: Settings) -> Finding:
    if Client(settings).answers():
        return Finding("server", "good", f"answers at {settings.server_url}")
    return Finding(
        "server",
        "optional",
        f"none answers at {settings.server_url}",
        "`jm serve` starts one; `jm run` does too.",
    )
