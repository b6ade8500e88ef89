"""What no commit should hold stays in the workspace, with a reason; what the repository has stays its own."""

import os
from pathlib import Path

import pytest

from journeyman.git.policy import CommitPolicy
from journeyman.git.secrets import find_secrets
from journeyman.git.trees import LeftOut
from journeyman.git.workspaces import Workspace
from journeyman.settings import Settings
from tests.git.repositories import ADA, GitSetup, commit_files, message, tracked

TOKEN = "ghp_" + "a1B2" * 9
SECRETS = {
    "a private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "an AWS access key": "AKIA" + "ABCDEFGHIJKLMNOP",
    "a GitHub token": TOKEN,
    "a GitLab token": "glpat-" + "a" * 20,
    "an Anthropic key": "sk-ant-" + "api03-" + "x" * 40,
    "an OpenAI key": "sk-proj-" + "x" * 48,
    "a Google key": "AIza" + "S" * 35,
    "a Slack token": "xoxb-" + "123456789012-123456789012-" + "a" * 24,
}


@pytest.fixture
def policy(home: Path) -> CommitPolicy:
    settings = Settings.model_validate({"JOURNEYMAN_HOME": home, "OPENAI_API_KEY": "the server's own key"})
    return CommitPolicy.of(settings)


async def committed(workspace: Workspace, policy: CommitPolicy) -> tuple[set[str], dict[str, LeftOut]]:
    left_out: list[LeftOut] = []
    await workspace.commit(message(), author=ADA, policy=policy, on_left_out=left_out.extend)
    return set(tracked(workspace.mirror, workspace.branch)), {one.shown_path: one for one in left_out}


async def test_files_of_a_machine_or_a_person_stay_out_of_the_commit(
    workspace: Workspace, policy: CommitPolicy
) -> None:
    for name in (".env", "deep/.env.local", ".DS_Store", ".env.example", "kept.py"):
        (workspace.tree / name).parent.mkdir(exist_ok=True)
        (workspace.tree / name).write_text("x = 1\n")
    files, left_out = await committed(workspace, policy)
    assert {".env.example", "kept.py"} <= files
    assert left_out.keys() == {".env", "deep/.env.local", ".DS_Store"}
    assert not left_out.keys() & files
    snapshot = await workspace.snapshot()
    assert snapshot is not None
    assert await workspace.mirror.file_at(snapshot.commit_sha, ".env") == b"x = 1\n"


async def test_a_large_new_file_stays_out_with_its_size(workspace: Workspace, policy: CommitPolicy) -> None:
    (workspace.tree / "model.bin").write_bytes(os.urandom(64) * 500_000)
    (workspace.tree / "kept.py").write_text("kept\n")
    files, left_out = await committed(workspace, policy)
    assert "model.bin" not in files
    assert left_out["model.bin"].size == 32_000_000


async def test_what_the_repository_tracks_is_not_left_out(
    source: Path, git_setup: GitSetup, policy: CommitPolicy
) -> None:
    commit_files(source, {".env": "PORT=1\n"})
    workspace = await git_setup.open()
    (workspace.tree / ".env").write_text("PORT=2\n")
    _, left_out = await committed(workspace, policy)
    assert left_out == {}
    assert await workspace.mirror.file_at(await workspace.head(), ".env") == b"PORT=2\n"


async def test_a_policy_that_lets_everything_in_does_so(workspace: Workspace) -> None:
    (workspace.tree / ".env").write_text(f"TOKEN={TOKEN}\n")
    files, left_out = await committed(workspace, CommitPolicy())
    assert ".env" in files
    assert left_out == {}


@pytest.mark.parametrize("kind", SECRETS)
async def test_a_new_secret_stays_out_and_is_never_told(
    workspace: Workspace, policy: CommitPolicy, kind: str
) -> None:
    (workspace.tree / "src/app.py").write_text(f"one\n\nkey = '{SECRETS[kind]}'\n")
    (workspace.tree / 'odd "name\n').write_text(SECRETS[kind])
    (workspace.tree / "kept.py").write_text("kept\n")
    files, left_out = await committed(workspace, policy)
    assert files == {"kept.py", "readme.md", "src/app.py"}
    assert await workspace.mirror.file_at(await workspace.head(), "src/app.py") == b"one\n"
    assert left_out["src/app.py"].reason == f"line 3 looks like {kind}"
    assert left_out['odd "name\n'].reason == f"line 1 looks like {kind}"
    assert SECRETS[kind] not in repr(left_out)


@pytest.mark.parametrize("written", ["the server's own key", "dGhlIHNlcnZlcidzIG93biBrZXk"])
async def test_the_servers_own_secrets_stay_out_however_they_are_written(
    workspace: Workspace, policy: CommitPolicy, written: str
) -> None:
    (workspace.tree / "leak.txt").write_text(f"{written}\n")
    (workspace.tree / "kept.py").write_text("kept\n")
    files, left_out = await committed(workspace, policy)
    assert "leak.txt" not in files
    assert left_out["leak.txt"].reason == "line 1 looks like a secret of this server"


async def test_attributes_hide_no_secret(workspace: Workspace, policy: CommitPolicy) -> None:
    (workspace.tree / ".gitattributes").write_text("* -diff -text\n")
    (workspace.tree / "data.bin").write_bytes(b"\0\0" + TOKEN.encode() + b"\0")
    files, left_out = await committed(workspace, policy)
    assert "data.bin" not in files
    assert list(left_out) == ["data.bin"]


async def test_a_secret_of_long_standing_keeps_nobody_from_working(
    source: Path, git_setup: GitSetup, policy: CommitPolicy
) -> None:
    commit_files(source, {"fixture.py": f"key = '{TOKEN}'\nold\n"})
    workspace = await git_setup.open()
    (workspace.tree / "fixture.py").write_text(f"key = '{TOKEN}'\nnew\n")
    _, left_out = await committed(workspace, policy)
    assert left_out == {}


async def test_a_commit_that_was_cut_off_brings_no_secret_in_later(
    workspace: Workspace, policy: CommitPolicy
) -> None:
    (workspace.tree / "leak.txt").write_text(TOKEN)
    (workspace.tree / "kept.py").write_text("kept\n")
    index = workspace.index
    await index.stage(await index.changes(), policy)
    files, left_out = await committed(workspace, policy)
    assert "leak.txt" not in files
    assert list(left_out) == ["leak.txt"]


def test_only_added_lines_count() -> None:
    patch = f"--- a/x\n+++ b/x\n@@ -3,2 +3 @@ {TOKEN}\n<{TOKEN}\n<old\n>new\n".encode()
    assert find_secrets(patch) == []


def test_examples_of_documentation_are_no_secrets() -> None:
    assert find_secrets(b"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n>AKIAIOSFODNN7EXAMPLE\n") == []
