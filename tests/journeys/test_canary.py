"""Keys and tokens are used, and are nowhere to be found afterwards: neither in a jail nor in what is kept.

The provider even repeats the key that it refuses, in three forms. Every place is first shown to be looked
into for real, by a marker that must be there.
"""

import base64
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.agents.installed import INSTALLED
from tests.journeys.product import Product
from tests.journeys.repositories import make_repository
from tests.standins.github import GitHubStandIn
from tests.standins.model_server import ModelServer, Reply, Request

KEYS = {
    "OPENAI_API_KEY": "sk-canary-Bq7RzL0pWv/x+Mt3",
    "ANTHROPIC_API_KEY": "sk-ant-canary-Nn5KdU2yGe",
    "GEMINI_API_KEY": "AIza-canary-Hc8XsT4jQa",
}
TOKEN = "ghp_canary9Vw6ZbE1rYf"
MARKER = "Mend the marker-of-this-order adder"
MODELS = {
    "builtin": "openai/gpt-stand-in",
    "claude_code": "anthropic/claude-stand-in",
    "codex": "openai/gpt-stand-in",
}
# Not into what is shown from the machine: an agent may be installed below /tmp, and fills any file.
LOOK = (
    "(env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'; cat /etc/* /tmp/* /run/*; "
    "find /workspace /home/agent /home/sessions /run /tmp -xdev -type f -size -2000k ! -name seen.txt "
    "-exec cat {} +) "
    "> seen.txt 2>/dev/null; echo '# mended' >> adder.py"
)


def forms_of(secret: str) -> Iterator[bytes]:
    """The secret as it might be written down; of base64 the part that does not depend on what is around."""
    raw = secret.encode()
    yield raw
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + raw)
        yield encoded[4:-4]


class Provider:
    """Refuses, repeating the key, until it is told to answer."""

    def __init__(self) -> None:
        self.refuses = True

    def __call__(self, request: Request) -> Reply:
        headers = {name.lower(): value for name, value in request.headers.items()}
        key = headers.get("x-api-key") or headers["authorization"].removeprefix("Bearer ")
        if self.refuses:
            echoed = (
                f"Incorrect API key: {key}, {base64.b64encode(key.encode()).decode()}, {key.encode().hex()}"
            )
            error = {"type": "authentication_error", "message": echoed, "code": "invalid_api_key"}
            return Reply(status=401, body={"type": "error", "error": error})
        tools = [
            tool.get("name") or tool.get("function", {}).get("name") for tool in request.body.get("tools", [])
        ]
        shell = next((name for name in ("shell", "Bash", "exec_command") if name in tools), None)
        asked = str(request.body)
        if shell is None or "seen.txt" in asked:
            return Reply(text="Done.")
        return Reply(tools=[(shell, {"cmd" if shell == "exec_command" else "command": LOOK})])


@pytest.fixture
def github(tmp_path: Path) -> Iterator[GitHubStandIn]:
    with GitHubStandIn(tmp_path) as github:
        github.token = TOKEN
        github.add_repository("acme", "adder", make_repository(tmp_path / "adder"))
        yield github


def rows_of(home: Path, url: str) -> bytes:
    """Every row of every table, the engine's among them."""
    found: list[str] = []
    if not url:
        for path in home.glob("*.db"):
            with closing(sqlite3.connect(path)) as connection:
                found += [path.name, *connection.iterdump()]
        return "\n".join(found).encode()
    with psycopg.connect(url) as connection:
        system = "('pg_catalog', 'information_schema')"
        tables = connection.execute(
            f"SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN {system}"
        ).fetchall()
        for schema, table in tables:
            query = sql.SQL("SELECT t::text FROM {} t").format(sql.Identifier(schema, table))
            found += [f"{schema}.{table}", *(row[0] for row in connection.execute(query))]
    return "\n".join(found).encode()


def git_of(directory: Path) -> bytes:
    """Every object, reachable or not, and every ref of a repository."""
    command = ["git", "-c", "safe.directory=*", "--git-dir", str(directory)]
    objects = subprocess.run(
        [*command, "cat-file", "--batch-all-objects", "--batch", "--unordered"],
        check=True,
        capture_output=True,
    )
    refs = subprocess.run([*command, "for-each-ref"], check=True, capture_output=True)
    return objects.stdout + refs.stdout


def files_of(directory: Path) -> bytes:
    return b"\n".join(
        path.read_bytes() for path in directory.rglob("*") if path.is_file() and not path.is_symlink()
    )


@pytest.mark.parametrize(
    ("agent", "store"),
    [("builtin", "sqlite"), ("builtin", "postgresql"), ("claude_code", "sqlite"), ("codex", "sqlite")],
)
def test_no_key_and_no_token_is_found_anywhere(
    home: Path, github: GitHubStandIn, agent: str, store: str, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgres_url") if store == "postgresql" else ""
    answering = Provider()
    with ModelServer(answering) as server:
        product = Product(
            home,
            DATABASE_URL=url,
            JOURNEYMAN_GITHUB_URL=github.url,
            JOURNEYMAN_GITHUB_API_URL=github.api_url,
            JOURNEYMAN_AGENTS_DIRECTORY=str(INSTALLED),
            JOURNEYMAN_KEEP_MODEL_CALLS="true",
            GITHUB_TOKEN=TOKEN,
            OPENAI_BASE_URL=f"{server.url}/v1",
            ANTHROPIC_BASE_URL=server.url,
            GOOGLE_GEMINI_BASE_URL=server.url,
            **KEYS,
        )
        with product:
            order_id = product.submit(
                f"{github.url}/acme/adder",
                MODELS[agent],
                agent=agent,
                initial_prompt=MARKER,
                workflow_type="agent_workflow_build",
            )
            refused = product.finish(order_id)
            assert (refused["status"], refused["error_category"]) == ("failed", "auth"), refused
            assert "[redacted]" in refused["error_message"]
            answering.refuses = False
            assert product.request("POST", f"/api/agent-work-orders/{order_id}/retry").status_code == 202
            order = product.finish(order_id)
            assert (order["status"], order["error_message"]) == ("completed", None)
        used = str([request.headers for request in server.requests])
        assert KEYS["ANTHROPIC_API_KEY" if agent == "claude_code" else "OPENAI_API_KEY"] in used

    mirror = next((home / "mirrors").glob("*.git"))
    origin = github.git.root / "acme" / "adder.git"
    show = ["git", "-c", "safe.directory=*", "--git-dir", str(origin), "show"]
    seen = subprocess.run([*show, f"{order['git_branch_name']}:seen.txt"], check=True, capture_output=True)
    [pull_request] = github.pull_requests
    places = {
        "the jail": (seen.stdout, b"JM_SANDBOX"),
        "the database": (rows_of(home, url), MARKER.encode()),
        "the home": (files_of(home), MARKER.encode()),
        "the log": (product.said().encode(), order_id.encode()),
        "the mirror": (git_of(mirror), order_id.encode()),
        "the origin": (git_of(origin), order_id.encode()),
        "the pull request": (str(pull_request).encode(), MARKER.encode()),
        "what the forge was sent": (b"\n".join(one.body for one in github.requests), MARKER.encode()),
    }
    for place, (content, marker) in places.items():
        assert marker in content, f"{place} was not looked into"
        for secret in (*KEYS.values(), TOKEN):
            for form in forms_of(secret):
                assert form not in content, f"{secret} is in {place} as {form!r}"
