"""Whatever an agent leaves in its workspace, cancelling answers at once, and what it wrote is kept or stays.

The oracle looks from outside: a clock, the process table, the mirror and a fresh clone read with plain git.
"""

import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.hostile.frame import give_to
from tests.journeys.product import Product
from tests.journeys.repositories import FIXED, calls, git, make_repository, says
from tests.pace import in_time

_ANSWER_SECONDS = 5.0
_TOKEN = "ghp_" + "a1B2" * 9
_FILES = """python3 -c '
import os
for d in range({directories}):
    os.mkdir(str(d))
    for f in range(1000): open(f"{{d}}/{{f}}", "w").close()'"""
TRAPS = {
    "a pipe as .gitignore": "mkfifo .gitignore",
    "a pipe as .gitignore further down": "mkdir -p a/b && mkfifo a/b/.gitignore && echo x > a/b/c",
    "a pipe as .gitattributes": "mkfifo .gitattributes",
    "a pipe as .gitattributes further down": "mkdir -p a && mkfifo a/.gitattributes && echo x > a/c",
    "40 MB of slow rules": """touch $(seq 500)
        python3 -c 'print(("a*" * 20 + "b\\n") * 1000000)' > .gitignore""",
    "a .gitignore of 700 MB": "truncate -s 700M .gitignore",
    "a .gitattributes of 2 GB": "truncate -s 2G .gitattributes",
    "sparse files of 700 MB and 2 GB": "truncate -s 700M one.py; truncate -s 2G two.py",
    "a pipe and a socket named like source": """mkfifo module.py; python3 -c '
import socket; socket.socket(socket.AF_UNIX).bind("app.py")'""",
    "links in circles and to outside": "ln -s b a; ln -s a b; ln -s . c; ln -s ../.. d; ln -s /proc e",
    "a pipe in place of .git": "rm -f .git; mkfifo .git",
    "a link in place of .git": "rm -f .git; ln -s /tmp .git",
    "a repository with commands in place of .git": """rm -f .git; git init -q
        git config core.fsmonitor 'touch /tmp/canary'; touch .git/index.lock""",
    "nested repositories with hooks and pipes": """git init -q n; touch n/file
        for h in post-index-change pre-commit; do echo touch /tmp/canary > n/.git/hooks/$h; done
        chmod +x n/.git/hooks/*; mkdir -p m/.git/objects m/.git/refs; mkfifo m/.git/HEAD; touch m/file
        git init -q o; echo .. > o/.git/commondir; touch o/file""",
    "30,000 files": _FILES.format(directories=30),
    "100,000 files": _FILES.format(directories=100),
    "names of any kind": r"""python3 -c '
import os
for name in (b"new\nline", b"bad\xff\xfe", b"x" * 255, b"--help", b".GIT", b"git~1"): open(name, "w").close()
for _ in range(20): os.mkdir("d" * 200); os.chdir("d" * 200)
open("deep", "w").close()'""",
    "a directory without end": """python3 -c '
import os
for _ in range(3000): os.mkdir("d"); os.chdir("d")'""",
    "rules that come and go while they are read": """cat > /tmp/swap.sh <<'END'
        while :; do rm -f .gitignore; mkfifo .gitignore; rm -f .gitignore; echo x > .gitignore; done
END
        setsid sh /tmp/swap.sh >/dev/null 2>&1 & disown""",
    "a pipe as .journeyman": "mkfifo .journeyman",
    "a link as .journeyman": "ln -s /etc .journeyman",
    "names that differ by case": "mkdir dir DIR; touch readme README Readme dir/file DIR/file",
}


def lays(trap: str, *then: dict[str, Any]) -> dict[str, Any]:
    """A turn that lays a trap, and then fixes the bug."""
    replies = [calls("shell", command=trap), calls("write_file", path="adder.py", content=FIXED), *then]
    return {"when": {"role": "build"}, "replies": replies}


def sleeps(event: dict[str, Any]) -> bool:
    return bool(event["type"] == "tool_call_started" and event["arguments"].get("command") == "sleep 600")


def kept(product: Product, order_id: str) -> bool:
    """Whether the fixed file is in a snapshot, or still in the workspace."""
    tree = product.home / "workspaces" / order_id / "tree" / "adder.py"
    if tree.exists():
        return tree.read_text() == FIXED
    [mirror] = [path.parent for path in product.home.glob(f"mirrors/*.git/refs/journeyman/orders/{order_id}")]
    [mirror] = {path for path in mirror.parents if path.suffix == ".git"}
    below = f"refs/journeyman/snapshots/{order_id}/"
    plain = ["git", "-c", "safe.directory=*", f"--git-dir={mirror}"]
    listed = subprocess.run(
        [*plain, "for-each-ref", "--format=%(refname)", below], capture_output=True, text=True, check=True
    )
    shown = [
        subprocess.run([*plain, "show", f"{ref}:adder.py"], capture_output=True, text=True, check=True).stdout
        for ref in listed.stdout.split()
    ]
    return FIXED in shown


def gits_of(order_id: str) -> list[int]:
    return [
        one.pid for one in psutil.process_iter(["cmdline"]) if order_id in " ".join(one.info["cmdline"] or ())
    ]


@pytest.fixture(scope="module")
def repository(user: str, place: Path) -> Path:
    return give_to(user, make_repository(place / "adder"))


@pytest.mark.parametrize(
    "trap",
    [pytest.param(trap, marks=pytest.mark.lasting) if trap == "100,000 files" else trap for trap in TRAPS],
)
def test_cancelling_answers_at_once_and_keeps_the_work_beside(
    product: Product, repository: Path, sandbox_type: str, trap: str
) -> None:
    model = product.script(
        f"trap-{list(TRAPS).index(trap)}", lays(TRAPS[trap], calls("shell", command="sleep 600"))
    )
    order_id = product.submit(
        repository, model, workflow_type="agent_workflow_build", sandbox_type=sandbox_type
    )
    product.until(order_id, sleeps)
    began = time.monotonic()
    answer = product.request("POST", f"/api/agent-work-orders/{order_id}/cancel")
    is_prompt = in_time(began, _ANSWER_SECONDS)
    assert answer.json()["agent_work_order"]["status"] == "cancelled", answer.text
    assert is_prompt
    assert kept(product, order_id)
    assert gits_of(order_id) == []


def test_a_commit_holds_the_work_and_none_of_the_traps(
    product: Product, repository: Path, sandbox_type: str, tmp_path: Path
) -> None:
    heavy = ("00 files", "without end", "come and go", "slow rules", "sparse")
    traps = "\n".join(
        f"({trap}\n)" for name, trap in TRAPS.items() if not any(word in name for word in heavy)
    )
    leaks = f"echo PORT=1 > .env; echo {_TOKEN} > leak.txt; head -c 30000000 /dev/urandom > model.bin"
    model = product.script("all-traps", lays(f"{traps}\n{leaks}\ntrue", says("Done.")))
    order_id = product.submit(
        repository,
        model,
        workflow_type="agent_workflow_build",
        sandbox_type=sandbox_type,
        initial_prompt="Fixes #1 for @octavia",
    )
    order = product.finish(order_id)
    assert order["status"] == "completed", order
    anybodys = "--upload-pack=git -c safe.directory=* upload-pack"
    git(tmp_path, "clone", "-q", "--bare", anybodys, f"file://{repository}", "fresh")
    fresh, branch = tmp_path / "fresh", order["git_branch_name"]
    git(fresh, "fsck", "--full")
    assert git(fresh, "show", f"{branch}:adder.py") == FIXED.strip()
    files = git(fresh, "ls-tree", "-r", "--name-only", branch).splitlines()
    assert not {".env", "leak.txt", "model.bin", ".gitignore", "module.py"} & set(files)
    assert {"n/file", "m/file", "o/file", "readme", "README"} <= set(files)
    assert "@octavia" not in git(fresh, "log", "--format=%B", branch)
    told = [event for event in product.events(order_id) if event["type"] == "git_files_left_out"][-1]
    assert {".env", "leak.txt", "model.bin", ".gitignore"} <= {one["path"] for one in told["files"]}
    number = order["github_pull_request_url"].rsplit("/", 1)[-1]
    body = product.get(f"/api/local-forge/pull-requests/{number}")["body"]
    assert "| model.bin | 30,000,000 |" in body
    assert "line 1 looks like a GitHub token" in body
    assert _TOKEN not in body + str(told)
